import { appendFileSync } from "node:fs";
import { resolve } from "node:path";

// act copies an action away from its packages, so the client is found by the folder that the harness names.
// It refuses to work for any other server than GitHub's own.
process.env.GITHUB_SERVER_URL = "https://github.com";
const { default: artifact } = await import(`${process.env.INCUMBENT_E2E_MODULES}/@actions/artifact/lib/artifact.js`);
const client = artifact.default ?? artifact;
const path = resolve(process.env.GITHUB_WORKSPACE, process.env.INPUT_PATH);
const { artifact: found } = await client.getArtifact(process.env.INPUT_NAME);
await client.downloadArtifact(found.id, { path });
appendFileSync(process.env.GITHUB_OUTPUT, `download-path=${path}\n`);
