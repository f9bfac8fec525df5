-- Questions that people ask, one a line, each after the name of the session that it is put to. Some of them have no
-- private meaning: the refusal is kept then.

-- session hospital
SELECT BIN(age,10) AS decade, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1; -- age pyramid
SELECT AVG(CASE WHEN n>1 THEN 1 ELSE 0 END) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id); -- readmission rate
SELECT department, AVG(cost) AS m, STDDEV(cost) AS sd, COUNT(*) AS n FROM visits GROUP BY department ORDER BY m DESC; -- mean cost by department
SELECT region, AVG(cost) AS m FROM visits JOIN patients USING (patient_id) GROUP BY region; -- cost by region (join private tables)
SELECT department, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY department; -- patients seen by department
SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) AS n FROM visits GROUP BY m; -- visits by month
SELECT ISODOW(admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd; -- weekday load
SELECT DAYOFWEEK(admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd; -- DAYOFWEEK
SELECT EXTRACT(DOW FROM admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd; -- EXTRACT(dow)
SELECT STRFTIME(admitted,'%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m; -- strftime
SELECT nights, COUNT(*) AS n FROM visits GROUP BY nights; -- length of stay dist
SELECT department, 100.0*COUNT(*) FILTER (WHERE nights>7)/COUNT(*) AS pct FROM visits GROUP BY department; -- long stays
SELECT department, QUANTILE(nights,0.9) AS p90 FROM visits GROUP BY department; -- p90 stay
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5; -- diagnosis top private
SELECT LEFT(diagnosis,1) AS chapter, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY 1; -- diagnosis prefix
SELECT CORR(nights,cost) FROM visits; -- correlation
SELECT REGR_SLOPE(cost,nights) FROM visits; -- regression
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE department='surgery') ; -- cohort: visited surgery AND cardiology
SELECT COUNT(*) AS n FROM visits WHERE department IN ('surgery','oncology') AND cost NOT BETWEEN 100 AND 200; -- in list
SELECT COUNT(*) AS n FROM visits WHERE department LIKE 'on%' OR department LIKE '%gy'; -- LIKE ANY
SELECT WIDTH_BUCKET(cost,0,20000,10) AS b, COUNT(*) FROM visits GROUP BY b; -- width_bucket
SELECT FLOOR(cost/2000) AS b, COUNT(*) AS n FROM visits GROUP BY b; -- floor bins
WITH t AS (SELECT department, SUM(cost) AS c FROM visits GROUP BY department) SELECT department, c, c/SUM(c) OVER () FROM t; -- cte share
SELECT department, COUNT(*) AS n FROM visits GROUP BY department HAVING COUNT(*)>1000 ORDER BY n DESC LIMIT 3; -- having
SELECT COUNT(DISTINCT diagnosis) FROM visits; -- distinct diagnoses
SELECT sex||'-'||region AS k, COUNT(*) AS n FROM patients GROUP BY 1; -- concat key
SELECT SUM(CASE WHEN age>=65 THEN 1 ELSE 0 END) AS old, SUM(IF(sex='female',1,0)) AS f FROM patients; -- case when sum
SELECT COUNT(*)-COUNT(cost) AS missing FROM visits; -- count if null
SELECT APPROX_QUANTILE(cost,0.5) AS m FROM visits; -- approx median
SELECT MODE(department) FROM visits; -- mode
SELECT MIN(admitted), MAX(admitted) FROM visits; -- first
SELECT COUNT(*) AS n FROM visits WHERE NOT (cost > 100 AND nights < 3); -- bool_and
SELECT department, AVG(cost) OVER (PARTITION BY department) FROM visits; -- moving avg
SELECT department, COUNT(*) AS n FROM visits GROUP BY department ORDER BY n DESC LIMIT 3 OFFSET 3; -- offset
SELECT department, COUNT(*) AS n FROM visits GROUP BY ALL; -- group by all
SELECT DISTINCT department FROM (SELECT department, COUNT(*) n FROM visits GROUP BY department); -- distinct on answer
SELECT COUNT(*) AS n FROM visits; -- a single count
SELECT SUM(cost) AS total, AVG(nights) AS stay FROM visits WHERE department = 'surgery'; -- two numbers of one department
SELECT region, COUNT(*) AS n FROM patients GROUP BY region; -- private keys
SELECT coastal, COUNT(*) AS n FROM patients JOIN regions USING (region) GROUP BY coastal; -- a public join
SELECT MEDIAN(cost) AS m FROM visits WHERE nights > 2; -- median
SELECT VARIANCE(nights) AS v FROM visits; -- variance

-- session shop
SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, SUM(l_extendedprice*(1-l_discount)) AS sum_disc_price, SUM(l_extendedprice*(1-l_discount)*(1+l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus; -- Q1 as written
SELECT l_orderkey, SUM(l_extendedprice*(1-l_discount)) AS revenue, o_orderdate FROM customer, orders, lineitem WHERE c_mktsegment='BUILDING' AND c_custkey=o_custkey AND l_orderkey=o_orderkey AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey, o_orderdate ORDER BY revenue DESC LIMIT 10; -- Q3 as written
SELECT o_orderpriority, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM lineitem JOIN orders ON l_orderkey=o_orderkey JOIN customer ON o_custkey=c_custkey WHERE c_mktsegment='BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority; -- Q3 private, JOIN
SELECT o_orderpriority, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales WHERE c_mktsegment='BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority ORDER BY revenue DESC; -- Q3 private, on curator's view
SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM customer, orders, lineitem, supplier, nation, region WHERE c_custkey=o_custkey AND l_orderkey=o_orderkey AND l_suppkey=s_suppkey AND c_nationkey=s_nationkey AND s_nationkey=n_nationkey AND n_regionkey=r_regionkey AND r_name='ASIA' AND o_orderdate>=DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR GROUP BY n_name ORDER BY revenue DESC; -- Q5 as written
SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales JOIN nation ON s_nationkey=n_nationkey JOIN region ON n_regionkey=r_regionkey WHERE c_nationkey=s_nationkey AND r_name='ASIA' AND o_orderdate>=DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name ORDER BY revenue DESC; -- Q5 on view + public joins
SELECT SUM(l_extendedprice*l_discount) AS revenue FROM lineitem WHERE l_shipdate>=DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24; -- Q6 as written
SELECT SUM(l_extendedprice*l_discount) AS revenue FROM lineitem WHERE l_shipdate>=DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24; -- Q6 dates written out
SELECT c_custkey, c_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM customer, orders, lineitem WHERE c_custkey=o_custkey AND l_orderkey=o_orderkey AND l_returnflag='R' GROUP BY c_custkey, c_name ORDER BY revenue DESC LIMIT 20; -- Q10 as written
SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales JOIN nation ON c_nationkey=n_nationkey WHERE l_returnflag='R' AND o_orderdate>=DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' GROUP BY n_name ORDER BY revenue DESC LIMIT 20; -- Q10 private: lost revenue by nation, view
SELECT c_count, COUNT(*) AS custdist FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count FROM customer LEFT JOIN orders ON c_custkey=o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) GROUP BY c_count ORDER BY custdist DESC, c_count DESC; -- Q13 as written
SELECT c_count, COUNT(*) AS custdist FROM (SELECT o_custkey, COUNT(*) AS c_count FROM orders WHERE o_comment NOT LIKE '%special%requests%' GROUP BY o_custkey) GROUP BY c_count; -- Q13 one table
SELECT orders, COUNT(*) AS custdist FROM per_customer GROUP BY orders ORDER BY custdist DESC; -- Q13 on curator's per-customer view
SELECT SUBSTRING(c_phone,1,2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM customer WHERE SUBSTRING(c_phone,1,2) IN ('13','31','23') AND c_acctbal > (SELECT AVG(c_acctbal) FROM customer WHERE c_acctbal > 0) AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey=c_custkey) GROUP BY cntrycode ORDER BY cntrycode; -- Q22 as written
SELECT SUBSTRING(c_phone,1,2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM per_customer WHERE SUBSTRING(c_phone,1,2) IN ('13','31','23','29','30','18','17') AND c_acctbal > 5000 AND orders=0 GROUP BY cntrycode ORDER BY cntrycode; -- Q22 private on view, two steps
SELECT DATE_TRUNC('month', o_orderdate) AS m, COUNT(*) AS n, SUM(o_totalprice) AS v FROM orders GROUP BY m ORDER BY m; -- orders by month
SELECT YEAR(o_orderdate) AS y, COUNT(DISTINCT o_custkey) AS buyers FROM orders GROUP BY y ORDER BY y; -- active customers by year
SELECT AVG(n) FROM (SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey); -- avg orders per customer
SELECT COUNT(*)/COUNT(DISTINCT o_custkey) AS per_buyer FROM orders; -- avg orders per buyer via ratio
SELECT c_mktsegment, COUNT(*) AS n, 100.0*COUNT(*)/SUM(COUNT(*)) OVER () AS pct FROM customer GROUP BY c_mktsegment; -- market share
SELECT MAX(o_totalprice) FROM orders; -- max order
SELECT QUANTILE(o_totalprice,0.95) AS p95, MEDIAN(o_totalprice) AS p50 FROM orders; -- p95 order
SELECT o_orderpriority, COUNT(*) FILTER (WHERE o_orderstatus='F') AS f, COUNT(*) FILTER (WHERE o_orderstatus='O') AS o FROM orders GROUP BY 1; -- status pivot
SELECT COUNT(*) FROM orders WHERE o_comment ILIKE '%SPECIAL%'; -- ILIKE
SELECT o_orderpriority, o_orderstatus, COUNT(*) FROM orders GROUP BY ROLLUP(o_orderpriority,o_orderstatus); -- rollup
SELECT 'orders' AS what, COUNT(*) AS n FROM orders UNION ALL SELECT 'lines', COUNT(*) FROM lineitem; -- union

-- session people
SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex; -- one row a person
SELECT education, AVG(hours) AS h FROM people WHERE age BETWEEN 25 AND 64 GROUP BY education; -- hours by education
SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people); -- a private number inside
SELECT * FROM people; -- rows
DELETE FROM people; -- no question
SELECT COUNT(*) FROM persons; -- another table
SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people; -- two statements
