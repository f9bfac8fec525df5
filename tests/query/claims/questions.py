"""Questions that people asked of two databases, as they wrote them, and what has a private form; the 22 of TPC-H.

A hospital (patients and visits) and a trading company (customers, orders, lines). A question that shows a row or an
extreme value of somebody has a private form beside it: what its refusal tells to write instead.
"""

from __future__ import annotations

Question = tuple[str, str, str]  # what is asked, in words; as people wrote it; its private form, where it has one

HOSPITAL: list[Question] = [
    (
        "age pyramid",
        "SELECT BIN(age,10) AS decade, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1",
        "",
    ),
    (
        "readmission rate",
        "SELECT AVG(CASE WHEN n>1 THEN 1 ELSE 0 END) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY "
        "patient_id)",
        "",
    ),
    (
        "mean cost by department",
        "SELECT department, AVG(cost) AS m, STDDEV(cost) AS sd, COUNT(*) AS n FROM visits GROUP BY department "
        "ORDER BY m DESC",
        "",
    ),
    (
        "cost by region (join private tables)",
        "SELECT region, AVG(cost) AS m FROM visits JOIN patients USING (patient_id) GROUP BY region",
        "",
    ),
    (
        "patients seen by department",
        "SELECT department, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY department",
        "",
    ),
    (
        "visits by month",
        "SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) AS n FROM visits GROUP BY m",
        "",
    ),
    (
        "weekday load",
        "SELECT ISODOW(admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd",
        "",
    ),
    (
        "DAYOFWEEK",
        "SELECT DAYOFWEEK(admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd",
        "",
    ),
    (
        "EXTRACT(dow)",
        "SELECT EXTRACT(DOW FROM admitted) AS wd, COUNT(*) AS n FROM visits GROUP BY wd",
        "",
    ),
    (
        "strftime",
        "SELECT STRFTIME(admitted,'%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m",
        "",
    ),
    (
        "length of stay dist",
        "SELECT nights, COUNT(*) AS n FROM visits GROUP BY nights",
        "",
    ),
    (
        "long stays",
        "SELECT department, 100.0*COUNT(*) FILTER (WHERE nights>7)/COUNT(*) AS pct FROM visits GROUP BY department",
        "",
    ),
    (
        "p90 stay",
        "SELECT department, QUANTILE(nights,0.9) AS p90 FROM visits GROUP BY department",
        "",
    ),
    (
        "diagnosis top private",
        "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5",
        "",
    ),
    (
        "diagnosis prefix",
        "SELECT LEFT(diagnosis,1) AS chapter, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY 1",
        "",
    ),
    (
        "correlation",
        "SELECT CORR(nights,cost) FROM visits",
        "",
    ),
    (
        "regression",
        "SELECT REGR_SLOPE(cost,nights) FROM visits",
        "",
    ),
    (
        "cohort: visited surgery AND cardiology",
        "SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE department='surgery')",
        "",
    ),
    (
        "in list",
        "SELECT COUNT(*) AS n FROM visits WHERE department IN ('surgery','oncology') AND cost NOT BETWEEN 100 AND 200",
        "",
    ),
    (
        "LIKE ANY",
        "SELECT COUNT(*) AS n FROM visits WHERE department LIKE 'on%' OR department LIKE '%gy'",
        "",
    ),
    (
        "width_bucket",
        "SELECT WIDTH_BUCKET(cost,0,20000,10) AS b, COUNT(*) FROM visits GROUP BY b",
        "",
    ),
    (
        "floor bins",
        "SELECT FLOOR(cost/2000) AS b, COUNT(*) AS n FROM visits GROUP BY b",
        "",
    ),
    (
        "cte share",
        "WITH t AS (SELECT department, SUM(cost) AS c FROM visits GROUP BY department) SELECT department, c, "
        "c/SUM(c) OVER () FROM t",
        "",
    ),
    (
        "having",
        "SELECT department, COUNT(*) AS n FROM visits GROUP BY department HAVING COUNT(*)>1000 ORDER BY n DESC LIMIT 3",
        "",
    ),
    (
        "distinct diagnoses",
        "SELECT COUNT(DISTINCT diagnosis) FROM visits",
        "",
    ),
    (
        "concat key",
        "SELECT sex||'-'||region AS k, COUNT(*) AS n FROM patients GROUP BY 1",
        "",
    ),
    (
        "case when sum",
        "SELECT SUM(CASE WHEN age>=65 THEN 1 ELSE 0 END) AS old, SUM(IF(sex='female',1,0)) AS f FROM patients",
        "",
    ),
    (
        "count if null",
        "SELECT COUNT(*)-COUNT(cost) AS missing FROM visits",
        "",
    ),
    (
        "approx median",
        "SELECT APPROX_QUANTILE(cost,0.5) AS m FROM visits",
        "",
    ),
    (
        "mode",
        "SELECT MODE(department) FROM visits",
        "SELECT department, COUNT(*) AS n FROM visits GROUP BY department ORDER BY n DESC LIMIT 1",
    ),
    (
        "first",
        "SELECT MIN(admitted), MAX(admitted) FROM visits",
        "SELECT QUANTILE(CLAMP(DATEDIFF('day', DATE '2025-01-01', admitted), 0, 364), 0.01) AS low, "
        "QUANTILE(CLAMP(DATEDIFF('day', DATE '2025-01-01', admitted), 0, 364), 0.99) AS high FROM visits",
    ),
    (
        "bool_and",
        "SELECT COUNT(*) AS n FROM visits WHERE NOT (cost > 100 AND nights < 3)",
        "",
    ),
    (
        "moving avg",
        "SELECT department, AVG(cost) OVER (PARTITION BY department) FROM visits",
        "SELECT department, AVG(cost) FROM visits GROUP BY department",
    ),
    (
        "offset",
        "SELECT department, COUNT(*) AS n FROM visits GROUP BY department ORDER BY n DESC LIMIT 3 OFFSET 3",
        "",
    ),
    (
        "group by all",
        "SELECT department, COUNT(*) AS n FROM visits GROUP BY ALL",
        "",
    ),
    (
        "distinct on answer",
        "SELECT DISTINCT department FROM (SELECT department, COUNT(*) n FROM visits GROUP BY department)",
        "",
    ),
]

TRADE: list[Question] = [
    (
        "Q1 as written",
        "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, "
        "SUM(l_extendedprice*(1-l_discount)) AS sum_disc_price, SUM(l_extendedprice*(1-l_discount)*(1+l_tax)) AS "
        "sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, "
        "COUNT(*) AS count_order FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY "
        "l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
        "",
    ),
    (
        "Q3 as written",
        "SELECT l_orderkey, SUM(l_extendedprice*(1-l_discount)) AS revenue, o_orderdate FROM customer, orders, "
        "lineitem WHERE c_mktsegment='BUILDING' AND c_custkey=o_custkey AND l_orderkey=o_orderkey AND o_orderdate "
        "< DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey, o_orderdate ORDER BY revenue "
        "DESC LIMIT 10",
        "SELECT o_orderpriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, "
        "lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND "
        "o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority ORDER BY "
        "revenue DESC",
    ),
    (
        "Q3 private, JOIN",
        "SELECT o_orderpriority, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM lineitem JOIN orders ON "
        "l_orderkey=o_orderkey JOIN customer ON o_custkey=c_custkey WHERE c_mktsegment='BUILDING' AND o_orderdate "
        "< DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority",
        "",
    ),
    (
        "Q3 private, on curator's view",
        "SELECT o_orderpriority, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales WHERE "
        "c_mktsegment='BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY "
        "o_orderpriority ORDER BY revenue DESC",
        "",
    ),
    (
        "Q5 as written",
        "SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM customer, orders, lineitem, supplier, "
        "nation, region WHERE c_custkey=o_custkey AND l_orderkey=o_orderkey AND l_suppkey=s_suppkey AND "
        "c_nationkey=s_nationkey AND s_nationkey=n_nationkey AND n_regionkey=r_regionkey AND r_name='ASIA' AND "
        "o_orderdate>=DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR GROUP BY n_name "
        "ORDER BY revenue DESC",
        "",
    ),
    (
        "Q5 on view + public joins",
        "SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales JOIN nation ON "
        "s_nationkey=n_nationkey JOIN region ON n_regionkey=r_regionkey WHERE c_nationkey=s_nationkey AND "
        "r_name='ASIA' AND o_orderdate>=DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY n_name "
        "ORDER BY revenue DESC",
        "",
    ),
    (
        "Q6 as written",
        "SELECT SUM(l_extendedprice*l_discount) AS revenue FROM lineitem WHERE l_shipdate>=DATE '1994-01-01' AND "
        "l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < "
        "24",
        "",
    ),
    (
        "Q6 dates written out",
        "SELECT SUM(l_extendedprice*l_discount) AS revenue FROM lineitem WHERE l_shipdate>=DATE '1994-01-01' AND "
        "l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        "",
    ),
    (
        "Q10 as written",
        "SELECT c_custkey, c_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM customer, orders, lineitem "
        "WHERE c_custkey=o_custkey AND l_orderkey=o_orderkey AND l_returnflag='R' GROUP BY c_custkey, c_name ORDER"
        " BY revenue DESC LIMIT 20",
        "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, nation"
        " WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND "
        "o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH AND l_returnflag = 'R' AND c_nationkey = n_nationkey"
        " GROUP BY n_name ORDER BY revenue DESC LIMIT 20",
    ),
    (
        "Q10 private: lost revenue by nation, view",
        "SELECT n_name, SUM(l_extendedprice*(1-l_discount)) AS revenue FROM sales JOIN nation ON "
        "c_nationkey=n_nationkey WHERE l_returnflag='R' AND o_orderdate>=DATE '1993-10-01' AND o_orderdate < DATE "
        "'1994-01-01' GROUP BY n_name ORDER BY revenue DESC LIMIT 20",
        "",
    ),
    (
        "Q13 as written",
        "SELECT c_count, COUNT(*) AS custdist FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count FROM customer "
        "LEFT JOIN orders ON c_custkey=o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) "
        "GROUP BY c_count ORDER BY custdist DESC, c_count DESC",
        "",
    ),
    (
        "Q13 one table",
        "SELECT c_count, COUNT(*) AS custdist FROM (SELECT o_custkey, COUNT(*) AS c_count FROM orders WHERE "
        "o_comment NOT LIKE '%special%requests%' GROUP BY o_custkey) GROUP BY c_count",
        "",
    ),
    (
        "Q13 on curator's per-customer view",
        "SELECT orders, COUNT(*) AS custdist FROM per_customer GROUP BY orders ORDER BY custdist DESC",
        "",
    ),
    (
        "Q22 as written",
        "SELECT SUBSTRING(c_phone,1,2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM "
        "customer WHERE SUBSTRING(c_phone,1,2) IN ('13','31','23') AND c_acctbal > (SELECT AVG(c_acctbal) FROM "
        "customer WHERE c_acctbal > 0) AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey=c_custkey) GROUP BY "
        "cntrycode ORDER BY cntrycode",
        "SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM "
        "customer WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23') AND c_acctbal > "
        "5000 AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey) GROUP BY cntrycode ORDER BY "
        "cntrycode",
    ),
    (
        "Q22 private on view, two steps",
        "SELECT SUBSTRING(c_phone,1,2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM "
        "per_customer WHERE SUBSTRING(c_phone,1,2) IN ('13','31','23','29','30','18','17') AND c_acctbal > 5000 "
        "AND orders=0 GROUP BY cntrycode ORDER BY cntrycode",
        "",
    ),
    (
        "orders by month",
        "SELECT DATE_TRUNC('month', o_orderdate) AS m, COUNT(*) AS n, SUM(o_totalprice) AS v FROM orders GROUP BY "
        "m ORDER BY m",
        "",
    ),
    (
        "active customers by year",
        "SELECT YEAR(o_orderdate) AS y, COUNT(DISTINCT o_custkey) AS buyers FROM orders GROUP BY y ORDER BY y",
        "",
    ),
    (
        "avg orders per customer",
        "SELECT AVG(n) FROM (SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey)",
        "SELECT AVG(CLAMP(n, 0, 50)) FROM (SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey)",
    ),
    (
        "avg orders per buyer via ratio",
        "SELECT COUNT(*)/COUNT(DISTINCT o_custkey) AS per_buyer FROM orders",
        "",
    ),
    (
        "market share",
        "SELECT c_mktsegment, COUNT(*) AS n, 100.0*COUNT(*)/SUM(COUNT(*)) OVER () AS pct FROM customer GROUP BY "
        "c_mktsegment",
        "",
    ),
    (
        "max order",
        "SELECT MAX(o_totalprice) FROM orders",
        "SELECT QUANTILE(o_totalprice, 0.99) FROM orders",
    ),
    (
        "p95 order",
        "SELECT QUANTILE(o_totalprice,0.95) AS p95, MEDIAN(o_totalprice) AS p50 FROM orders",
        "",
    ),
    (
        "status pivot",
        "SELECT o_orderpriority, COUNT(*) FILTER (WHERE o_orderstatus='F') AS f, COUNT(*) FILTER (WHERE "
        "o_orderstatus='O') AS o FROM orders GROUP BY 1",
        "",
    ),
    (
        "ILIKE",
        "SELECT COUNT(*) FROM orders WHERE o_comment ILIKE '%SPECIAL%'",
        "",
    ),
    (
        "rollup",
        "SELECT o_orderpriority, o_orderstatus, COUNT(*) FROM orders GROUP BY ROLLUP(o_orderpriority,o_orderstatus)",
        "",
    ),
    (
        "union",
        "SELECT 'orders' AS what, COUNT(*) AS n FROM orders UNION ALL SELECT 'lines', COUNT(*) FROM lineitem",
        "",
    ),
]

# Private forms of the benchmark, with the customer as the unit; Q2, Q11 and Q16 ask about public tables alone.
BENCHMARK: dict[str, str] = {
    "Q1": "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, "
    "SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice * (1 - l_discount) * (1 + "
    "l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS "
    "avg_disc, COUNT(*) AS count_order FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY"
    " GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
    "Q3": "SELECT o_orderpriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, "
    "lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND "
    "o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY o_orderpriority ORDER BY "
    "revenue DESC",
    "Q4": "SELECT o_orderpriority, COUNT(*) AS order_count FROM orders WHERE o_orderdate >= DATE '1993-07-01' AND "
    "o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey "
    "= o_orderkey AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority ORDER BY o_orderpriority",
    "Q5": "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, "
    "supplier, nation, region WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = "
    "s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND "
    "r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' "
    "YEAR GROUP BY n_name ORDER BY revenue DESC",
    "Q6": "SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' "
    "AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.05 AND 0.07 AND "
    "l_quantity < 24",
    "Q7": "SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue FROM (SELECT n1.n_name AS supp_nation, "
    "n2.n_name AS cust_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year, l_extendedprice * (1 - l_discount) AS "
    "volume FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND "
    "o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = "
    "n2.n_nationkey AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND "
    "n2.n_name = 'FRANCE')) AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping GROUP "
    "BY supp_nation, cust_nation, l_year HAVING (supp_nation = 'FRANCE' AND cust_nation = 'GERMANY') OR "
    "(supp_nation = 'GERMANY' AND cust_nation = 'FRANCE') ORDER BY supp_nation, cust_nation, l_year",
    "Q8": "SELECT o_year, SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share FROM "
    "(SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name"
    " AS nation FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey "
    "= l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND "
    "c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = "
    "n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND p_type = 'ECONOMY "
    "ANODIZED STEEL') AS all_nations GROUP BY o_year ORDER BY o_year",
    "Q9": "SELECT nation, o_year, SUM(amount) AS sum_profit FROM (SELECT n_name AS nation, EXTRACT(YEAR FROM "
    "o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount FROM "
    "part, supplier, lineitem, partsupp, orders, nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey"
    " AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = "
    "n_nationkey AND p_name LIKE '%green%') AS profit GROUP BY nation, o_year ORDER BY nation, o_year DESC",
    "Q10": "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer, orders, lineitem, nation"
    " WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND "
    "o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH AND l_returnflag = 'R' AND c_nationkey = n_nationkey"
    " GROUP BY n_name ORDER BY revenue DESC LIMIT 20",
    "Q12": "SELECT l_shipmode, SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0"
    " END) AS high_line_count, SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' "
    "THEN 1 ELSE 0 END) AS low_line_count FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode "
    "IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= "
    "DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR GROUP BY l_shipmode ORDER BY "
    "l_shipmode",
    "Q13": "SELECT c_count, COUNT(*) AS custdist FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count FROM customer "
    "LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey)"
    " AS c_orders GROUP BY c_count ORDER BY custdist DESC, c_count DESC",
    "Q14": "SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / "
    "SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue FROM lineitem, part WHERE l_partkey = p_partkey "
    "AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH",
    "Q15": "SELECT s_suppkey, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem JOIN supplier ON"
    " l_suppkey = s_suppkey WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + "
    "INTERVAL '3' MONTH GROUP BY s_suppkey ORDER BY total_revenue DESC LIMIT 1",
    "Q17": "SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part WHERE p_partkey = l_partkey AND "
    "p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < 0.2 * 25",
    "Q18": "SELECT COUNT(*) AS large_orders FROM (SELECT o_custkey FROM orders, lineitem WHERE o_orderkey = "
    "l_orderkey GROUP BY o_custkey, o_orderkey HAVING SUM(l_quantity) > 300)",
    "Q19": "SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part WHERE p_partkey = l_partkey"
    " AND l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON' AND ((p_brand = 'Brand#12'"
    " AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND l_quantity BETWEEN 1 AND 11 AND p_size"
    " BETWEEN 1 AND 5) OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED "
    "PACK') AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10) OR (p_brand = 'Brand#34' AND "
    "p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND l_quantity BETWEEN 20 AND 30 AND p_size "
    "BETWEEN 1 AND 15))",
    "Q20": "SELECT s_name, SUM(l_quantity) AS sold FROM lineitem, part, supplier, nation WHERE l_partkey = p_partkey "
    "AND p_name LIKE 'forest%' AND l_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'CANADA' "
    "AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR GROUP BY "
    "s_name ORDER BY sold DESC LIMIT 10",
    "Q21": "SELECT s_name, COUNT(*) AS numwait FROM supplier, lineitem l1, orders, nation WHERE s_suppkey = "
    "l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > "
    "l1.l_commitdate AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND "
    "l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = "
    "l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = "
    "n_nationkey AND n_name = 'SAUDI ARABIA' GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100",
    "Q22": "SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM "
    "customer WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > "
    "5000 AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey) GROUP BY cntrycode ORDER BY "
    "cntrycode",
}
