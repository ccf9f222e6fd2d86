import { readdirSync, statSync, appendFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// act copies an action away from its packages, so the client is found by the folder that the harness names.
// It refuses to work for any other server than GitHub's own.
process.env.GITHUB_SERVER_URL = "https://github.com";
const { default: artifact } = await import(`${process.env.INCUMBENT_E2E_MODULES}/@actions/artifact/lib/artifact.js`);
const input = (name) => process.env[`INPUT_${name.toUpperCase()}`] ?? "";

const path = resolve(process.env.GITHUB_WORKSPACE, input("path"));
let files = [];
let root = dirname(path);
const found = statSync(path, { throwIfNoEntry: false });
if (found?.isDirectory()) {
  root = path;
  files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.path, entry.name));
} else if (found) {
  files = [path];
}
if (files.length === 0) {
  console.log(`No files were found with the provided path: ${input("path")}. No artifacts will be uploaded.`);
  process.exit(input("if-no-files-found") === "error" ? 1 : 0);
}
const client = artifact.default ?? artifact;
const { id } = await client.uploadArtifact(input("name"), files, root);
appendFileSync(process.env.GITHUB_OUTPUT, `artifact-id=${id}\n`);
