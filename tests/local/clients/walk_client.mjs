// Reads {"specs": [...], "refused": [...]} from the input; writes the exact law of every value, and what was refused.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Client, draw } = await import(pathToFileURL(process.argv[2]).href);
const given = JSON.parse(readFileSync(0, "utf8"));
const TOTAL = 1n << 64n;

let script;
const answer = (options) => {
  const possible = options.filter(([, top]) => top > 0n);
  const place = script.taken.length;
  const number = place < script.chosen.length ? script.chosen[place] : 0;
  if (place >= script.chosen.length) {
    for (let other = 1; other < possible.length; other += 1) script.others.push([...script.taken, other]);
  }
  script.taken.push(number);
  const [outcome, top, bottom] = possible[number];
  script.mass = [script.mass[0] * top, script.mass[1] * bottom];
  return outcome;
};
const real = { ...draw };
draw.toss = (coin) => answer([[true, coin, TOTAL], [false, TOTAL - coin, TOTAL]]);
draw.below = (bound) => answer(Array.from({ length: Number(bound) }, (_, number) => [BigInt(number), 1n, bound]));
draw.bits = () => {
  throw new Error("bits were drawn past the coin and the uniform integers");
};

const law = (text, value) => {
  const masses = {};
  const waiting = [[]];
  while (waiting.length) {
    script = { chosen: waiting.pop(), taken: [], others: [], mass: [1n, 1n] };
    const report = new Client(text).report(value);
    (masses[report] ??= []).push(script.mass.join("/"));
    waiting.push(...script.others);
  }
  return masses;
};
const refuses = (action) => {
  try {
    action();
    return false;
  } catch {
    return true;
  }
};

const laws = given.specs.map(({ spec, values }) => values.map((value) => law(spec, value)));
const refused = given.refused.map((text) => refuses(() => new Client(text)));
Object.assign(draw, real);
const one = new Client(given.specs[0].spec);
const report = one.report(0);
const twice = refuses(() => one.report(0));
const none = refuses(() => new Client(given.specs[0].spec).report(-1));
const integers = [1n, 2n, 3n, 1000n].map((bound) => Number(draw.below(bound)));
process.stdout.write(JSON.stringify({ laws, refused, report, twice, none, integers }));
