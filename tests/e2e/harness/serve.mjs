// Starts npm `emulate` (GitHub) with the seed in the first line of standard input, says where it listens and how to sign
// in as each seeded app, and stops when standard input closes.
//
//   in:   {"seed": {...}, "baseUrl": "http://127.0.0.1:1234"}     (baseUrl: what its answers call themselves)
//   out:  {"port": 5678, "apps": {"15368": "<JSON web token>"}}
import { createSign } from "node:crypto";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { createEmulator } from "emulate";

// The emulator says its baseUrl, not its port, so the port is found before.
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// What an app shows to get an installation token; good for as long as any test runs.
function appToken(appId, privateKey) {
  const encode = (data) => Buffer.from(JSON.stringify(data)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const unsigned = `${encode({ alg: "RS256", typ: "JWT" })}.${encode({ iss: appId, iat: now - 60, exp: now + 86400 })}`;
  return `${unsigned}.${createSign("RSA-SHA256").update(unsigned).sign(privateKey, "base64url")}`;
}

let emulator;
const input = createInterface({ input: process.stdin });
input.once("line", async (line) => {
  const { seed, baseUrl } = JSON.parse(line);
  const port = await freePort();
  emulator = await createEmulator({ service: "github", port, hostname: "127.0.0.1", baseUrl, seed });
  const apps = Object.fromEntries(emulator.generatedSecrets.map(({ id, value }) => [id, appToken(Number(id), value)]));
  console.log(JSON.stringify({ port, apps }));
});
input.once("close", async () => {
  await emulator?.close();
  process.exit(0);
});
