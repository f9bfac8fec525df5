// A client of the local model for browsers and Node 20: an example of a port, in whole numbers (BigInt) only.
// It speaks four protocols: randomized-response, one-bit-hadamard, projective-geometry and hybrid-geometry.
// It reads the text of a spec as hostile, computes itself what follows from the parameters, and reports once.
// As a program: `node client.mjs SPEC.json VALUE` prints the report; a VALUE of - is read from the input.

const TOTAL = 1n << 64n;
const EXP_BITS = 320n;
const LONGEST_TEXT = 1 << 25;
const MOST_BRACKETS = 1000;
const [MOST_LABELS, LONGEST_LABEL, MOST_LETTERS] = [1 << 20, 1024, 1 << 22];

// Everything random is one of these. A test replaces `draw.toss` and `draw.below`, and nothing else.
export const draw = {
  bits(count) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(count / 8)));
    const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    return number & ((1n << BigInt(count)) - 1n);
  },
  toss(coin) {
    return draw.bits(64) < coin;
  },
  below(bound) {
    const count = bound > 1n ? (bound - 1n).toString(2).length : 0;
    for (;;) {
      const number = draw.bits(count);
      if (number < bound) return number;
    }
  },
};

const refuse = (why) => {
  throw new Error(why);
};

// At most 2^320 e^(a/b): the Taylor series with every step rounded down.
export function expBelow(a, b) {
  const x = (a << EXP_BITS) / b;
  let total = 0n;
  for (let term = 1n << EXP_BITS, k = 1n; term > 0n; k += 1n) {
    total += term;
    term = (term * x) / (k << EXP_BITS);
  }
  return total;
}

// The largest coin with (coin / inside) / ((2^64 - coin) / outside) <= e^epsilon.
export function largestCoin(epsilon, inside, outside) {
  const written = typeof epsilon === "string" && /^([1-9][0-9]{0,319})(?:\/([1-9][0-9]{0,319}))?$/.exec(epsilon);
  if (!written) refuse("epsilon is written as 'a/b' or 'a'");
  const [a, b] = [BigInt(written[1]), BigInt(written[2] ?? "1")];
  if (a > 20n * b || b > 1024n * a) refuse("epsilon lies between 1/1024 and 20");
  if (b >= 1n << 1024n) refuse("epsilon is a fraction of at most 1024 bits");
  if (written[2] && (b === 1n || gcd(a, b) !== 1n)) refuse("epsilon is written in lowest terms");
  const exp = expBelow(a, b);
  const coin = (TOTAL * inside * exp) / ((outside << EXP_BITS) + inside * exp);
  const [likely, unlikely] = [coin * outside, (TOTAL - coin) * inside];
  if (likely <= unlikely || likely << EXP_BITS > unlikely * exp) refuse("this coin breaks its guarantee");
  return coin;
}

const gcd = (a, b) => (b ? gcd(b, a % b) : a);

// Points of PG(dimension - 1, prime) by number; see Geometry in the Python file.
export class Geometry {
  constructor(prime, dimension) {
    if (prime >= 1n << 15n || dimension > 31n) refuse("the space is too large");
    for (let divisor = 2n; divisor * divisor <= prime; divisor += 1n) if (prime % divisor === 0n) refuse("no prime");
    [this.prime, this.dimension] = [prime, Number(dimension)];
    this.starts = Array.from({ length: this.dimension + 1 }, (_, m) => (prime ** BigInt(m) - 1n) / (prime - 1n));
    [this.points, this.onPlane] = [this.starts[this.dimension], this.starts[this.dimension - 1]];
    this.offPlane = this.points - this.onPlane;
    if (this.points > 1n << 30n) refuse("the space has more than 2^30 points");
  }
  place(point, onPlane, free) {
    let m = this.dimension - 1;
    while (point < this.starts[m]) m -= 1;
    let [lower, product] = [point - this.starts[m], 0n];
    const v = Array(this.dimension).fill(0n);
    for (let j = 0; j < this.dimension; j += 1) {
      if (j === m) continue; // set below, so that <x, v> is 0 on the plane and 1 off it
      v[j] = free % this.prime;
      free /= this.prime;
      if (j < m) product += (lower % this.prime) * v[j];
      lower /= this.prime;
    }
    v[m] = modulo((onPlane ? 0n : 1n) - product, this.prime);
    const top = v.findLastIndex((digit) => digit > 0n);
    const inverse = power(v[top], this.prime - 2n, this.prime);
    const digits = v.slice(0, top).map((digit) => (digit * inverse) % this.prime);
    return this.starts[top] + digits.reduceRight((number, digit) => number * this.prime + digit, 0n);
  }
  drawOn(point) {
    return this.place(point, true, 1n + draw.below(this.offPlane - 1n));
  }
  drawOff(point) {
    return this.place(point, false, draw.below(this.offPlane));
  }
  ofValue(value) {
    return (this.onPlane + value) % this.points;
  }
}

const modulo = (a, n) => ((a % n) + n) % n;
const power = (a, k, n) => (k === 0n ? 1n : (power((a * a) % n, k / 2n, n) * (k % 2n ? a : 1n)) % n);
const parity = (n) => BigInt([...n.toString(2)].filter((digit) => digit === "1").length % 2);

// Each protocol: its fields, and from them the sizes and how to draw.
const PROTOCOLS = {
  "randomized-response": (spec) => ({
    cells: spec.count,
    inside: 1n,
    draw(x, coin) {
      if (draw.toss(coin)) return x;
      const other = draw.below(spec.count - 1n);
      return other < x ? other : other + 1n;
    },
  }),
  "one-bit-hadamard": (spec) => {
    const rows = 1n << BigInt((spec.count - 1n).toString(2).length);
    return {
      cells: 2n * rows,
      inside: rows,
      draw(x, coin) {
        const row = draw.below(rows);
        return 2n * row + (parity(row & x) ^ (draw.toss(coin) ? 0n : 1n));
      },
    };
  },
  "projective-geometry": (spec) => {
    const space = new Geometry(spec.prime, spec.dimension);
    if (spec.count > space.points) refuse("there are more categories than points");
    return {
      cells: space.points,
      inside: space.onPlane,
      draw: (x, coin) => (draw.toss(coin) ? space.drawOn(space.ofValue(x)) : space.drawOff(space.ofValue(x))),
    };
  },
  "hybrid-geometry": (spec) => {
    const space = new Geometry(spec.prime, spec.dimension);
    const cells = spec.blocks * space.points;
    if (spec.blocks < 2n || spec.count > cells || cells > 1n << 30n) refuse("the blocks do not hold the categories");
    return {
      cells,
      inside: space.onPlane,
      draw(x, coin) {
        const [start, point] = [(x % spec.blocks) * space.points, space.ofValue(x / spec.blocks)];
        if (draw.toss(coin)) return start + space.drawOn(point);
        const free = draw.below(cells - space.onPlane);
        if (free < space.offPlane) return start + space.place(point, false, free);
        const elsewhere = free - space.offPlane;
        return elsewhere < start ? elsewhere : elsewhere + space.points;
      },
    };
  },
};
const FIELDS = {
  "randomized-response": [],
  "one-bit-hadamard": [],
  "projective-geometry": ["prime", "dimension"],
  "hybrid-geometry": ["blocks", "prime", "dimension"],
};

// Reads one JSON object of bounded size, as strictly as the Python clients: JSON.parse keeps the last of two fields of
// one name, rounds long integers, and takes 1.0 for 1. Integers become BigInt, objects become Map.
export function readObject(text) {
  const why = "a spec is one JSON object as its collector publishes it, of at most 32 MiB";
  if (typeof text !== "string" || text.length > LONGEST_TEXT || /\p{Surrogate}/u.test(text)) refuse(why);
  if (3 * text.length > LONGEST_TEXT && new TextEncoder().encode(text).length > LONGEST_TEXT) refuse(why);
  let [at, brackets] = [0, 0];
  const skip = () => {
    while (" \t\n\r".includes(text[at] ?? "x")) at += 1;
  };
  const take = (letter) => {
    skip();
    if (text[at] !== letter) return false;
    at += 1;
    return true;
  };
  const need = (letter) => take(letter) || refuse(why);
  const open = () => {
    brackets += 1;
    if (brackets > MOST_BRACKETS) refuse(why);
  };
  const string = () => {
    skip();
    const start = at;
    need('"');
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    need('"');
    return JSON.parse(text.slice(start, at)); // refuses control characters and bad escapes
  };
  const integer = () => {
    const start = at;
    while (/[-0-9.eE+]/.test(text[at] ?? "x") && at - start < 18) at += 1;
    const digits = text.slice(start, at);
    if (!/^-?(?:0|[1-9][0-9]*)$/.test(digits) || digits.length > 17) refuse(why);
    const number = BigInt(digits);
    return number < 1n << 53n && -number < 1n << 53n ? number : refuse(why);
  };
  const value = () => {
    skip();
    if (text[at] === '"') return string();
    if (take("[")) return list();
    if (take("{")) return object();
    const word = [["true", true], ["false", false], ["null", null]].find(([name]) => text.startsWith(name, at));
    if (!word) return integer();
    at += word[0].length;
    return word[1];
  };
  const list = () => {
    open();
    const found = [];
    if (take("]")) return found;
    do found.push(value());
    while (take(","));
    need("]");
    return found;
  };
  const object = () => {
    open();
    const found = new Map();
    if (take("}")) return found;
    do {
      const name = string();
      need(":");
      if (found.has(name)) refuse(why);
      found.set(name, value());
    } while (take(","));
    need("}");
    return found;
  };
  need("{");
  const found = object();
  skip();
  return at === text.length ? found : refuse(why);
}

// The canonical text: sorted names, no spaces, ASCII only; integers from 2^53 on are written as text.
function canonical(value) {
  if (typeof value === "bigint") return value < 1n << 53n ? `${value}` : `"${value}"`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value instanceof Map) {
    return `{${[...value.keys()].sort().map((name) => `${canonical(name)}:${canonical(value.get(name))}`).join(",")}}`;
  }
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

// The categories are their number, or the list of their names; returns the names, none of a number.
function namesOf(categories) {
  if (typeof categories === "bigint" && categories >= 2n && categories <= 1n << 40n) return [];
  const many = Array.isArray(categories) && categories.length >= 2 && categories.length <= MOST_LABELS;
  if (!many || !categories.every((name) => typeof name === "string")) {
    refuse("categories must be a number from 2 to 2^40, or a list of 2 to 2^20 names");
  }
  const fits = (name) => name.length <= 2 * LONGEST_LABEL && [...name].length <= LONGEST_LABEL;
  if (!categories.every((name) => name && fits(name) && !/\p{Surrogate}/u.test(name))) {
    refuse("names must be texts of 1 to 1024 characters that UTF-8 can write");
  }
  if (categories.reduce((sum, name) => sum + name.length, 0) > MOST_LETTERS) refuse("names have at most 2^22 characters");
  if (new Set(categories).size !== categories.length) refuse("two names are the same");
  return categories;
}

export class Client {
  #spent = false;

  constructor(text) {
    const given = readObject(text);
    const [protocol, epsilon, categories] = ["protocol", "epsilon", "categories"].map((name) => given.get(name));
    if (typeof protocol !== "string" || !Object.hasOwn(PROTOCOLS, protocol)) {
      refuse(`this client speaks ${Object.keys(PROTOCOLS).join(", ")}`);
    }
    const fields = {};
    for (const name of FIELDS[protocol]) {
      fields[name] = given.get(name);
      if (typeof fields[name] !== "bigint" || fields[name] < 2n) refuse(`${name} is an integer of at least 2`);
    }
    const names = namesOf(categories);
    this.count = names.length ? BigInt(names.length) : categories;
    this.sizes = PROTOCOLS[protocol]({ count: this.count, ...fields });
    const { cells, inside } = this.sizes;
    this.coin = largestCoin(epsilon, inside, cells - inside); // our own: the collector's is only compared
    const derived = new Map(Object.entries({ coin: this.coin, cells, inside }));
    const same = { format: "discreet.local", version: 2n, protocol, epsilon, categories, ...fields, derived };
    if (canonical(given) !== canonical(new Map(Object.entries(same)))) {
      refuse("this spec is not consistent: it does not follow from its parameters");
    }
    this.places = new Map(names.map((name, place) => [name, place])); // a search would take time by place
  }

  report(value) {
    const place = typeof value === "string" ? this.places.get(value) : value;
    if (!Number.isSafeInteger(place) || place < 0 || BigInt(place) >= this.count) refuse("this is no value");
    if (this.#spent) refuse("this client has reported; a second report would cost epsilon again");
    this.#spent = true;
    return Number(this.sizes.draw(BigInt(place), this.coin));
  }
}

async function main(path, value) {
  const { readFileSync, statSync } = await import("node:fs");
  const decode = (bytes, why) => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return refuse(why);
    }
  };
  if (statSync(path).size > LONGEST_TEXT) refuse("a spec has at most 32 MiB");
  const client = new Client(decode(readFileSync(path), "the spec cannot be read"));
  const line = () => decode(readFileSync(0), "a value is written in UTF-8").split(/\r?\n/)[0];
  const text = value === "-" ? line() : value;
  return client.report(/^[0-9]{1,13}$/.test(text) && !client.places.has(text) ? Number(text) : text);
}

const started = globalThis.process?.argv?.[1]; // of a browser: nothing
if (started && import.meta.url === (await import("node:url")).pathToFileURL(started).href) {
  const [path, value] = process.argv.slice(2);
  try {
    if (value === undefined) refuse("usage: node client.mjs SPEC.json VALUE");
    console.log(await main(path, value));
  } catch (error) {
    console.error(error instanceof SyntaxError || error.code ? "the spec cannot be read" : error.message);
    process.exitCode = 1;
  }
}
