// Reads a JSON list of texts from the input; writes of each whether the client accepts it as a spec.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Client } = await import(pathToFileURL(process.argv[2]).href);
const accepts = (text) => {
  try {
    return Boolean(new Client(text));
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error; // a reader refuses; it does not stumble
    return false;
  }
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(accepts)));
