// Asks `winnow mcp` with the official SDK of the Model Context Protocol as client: every tool, progress,
// cancellation, a bad call of each kind, and the limits of messages. Prints a table; exit code 1: a row failed.
//
//   npm install --prefix DIR @modelcontextprotocol/sdk
//   node measure/mcp/check.mjs build/ci/winnow DIR [TASK KERNEL_FILE [OPTION...]]
//
// KERNEL_FILE must be a correct kernel of TASK on the CPU (default: the baseline of axpy). OPTIONs go to
// `winnow mcp`: --server URL.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const project = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const [program, prefix, task = "axpy", file = join(project, "tasks/catalogue/blas/axpy/baseline.cu"), ...options] =
  process.argv.slice(2);
if (!program || !prefix) {
  console.error("usage: node check.mjs WINNOW FOLDER_WITH_NODE_MODULES [TASK KERNEL_FILE [OPTION...]]");
  process.exit(2);
}
const sdk = join(resolve(prefix), "node_modules/@modelcontextprotocol/sdk/dist/esm");
const load = (name) => import(pathToFileURL(join(sdk, name)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

// A server decides about the device.
const here = options.includes("--server") ? {} : { device: "cpu" };
const command = resolve(program);
const scratch = mkdtempSync(join(tmpdir(), "mcp-check-"));
const env = { WINNOW_CATALOGUE: join(project, "tasks/catalogue"), ...process.env, TMPDIR: scratch };
const text = readFileSync(file, "utf8");
const kernel = { name: "try.cu", text };
// A judge elsewhere has a store of its own.
if (!options.length) env.WINNOW_STORE = join(scratch, "kept.db");
spawnSync(command, ["eval", task, file, ...(options.length ? options : ["--device", "cpu", "--store", env.WINNOW_STORE])], { env });
let failed = 0;

function row(name, good, said) {
  failed += good ? 0 : 1;
  const words = String(said).replace(/\s+/g, " ").slice(0, 90);
  console.log(`${good ? "ok  " : "FAIL"} ${name.padEnd(34)} ${words}`);
}
async function check(name, act) {
  try {
    row(name, ...(await act()));
  } catch (error) {
    row(name, false, `${error.code ?? ""} ${error.message}`);
  }
}

async function connect() {
  const client = new Client({ name: "winnow-check", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: ["mcp", ...options], env, stderr: "ignore" }));
  return client;
}
const began = performance.now();
const client = await connect();
const waited = performance.now() - began;
row("initialize", waited < 300, `${waited.toFixed(0)} ms; ${JSON.stringify(client.getServerVersion())}`);

const call = (name, args, settings) => client.callTool({ name, arguments: args }, undefined, { timeout: 300_000, ...settings });
const said = (result) => result.content.map((block) => block.text).join("\n");
const answers = async (name, args, good = () => true) => {
  const result = await call(name, args);
  return [!result.isError && good(result), said(result)];
};
const isRefused = async (name, args, words) => {
  const result = await call(name, args);
  return [result.isError === true && said(result).includes(words), said(result)];
};

await check("tools/list", async () => {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  return [names.length === 8, names.join(" ")];
});
await check("list_tasks", () => answers("list_tasks", {}, (r) => r.structuredContent.tasks.length > 0));
await check("describe_task", () => answers("describe_task", { task }, (r) => r.structuredContent.name === task));
await check("rules", () => answers("rules", { task, ...here }));
await check("evaluate", () => answers("evaluate", { task, kernels: [kernel], ...here },
  (r) => r.structuredContent.verdict === "correct" && r.structuredContent.file === "try.cu"));
await check("evaluate a wrong kernel", () => answers("evaluate", { task, kernels: [{ text: "// nothing" }], ...here },
  (r) => r.structuredContent.verdict === "bad_plan"));
await check("evaluate several, with progress", async () => {
  const steps = [];
  const kernels = ["a.cu", "b.cu", "c.cu"].map((name) => ({ name, text: text + `// ${name}\n` }));
  const result = await call("evaluate", { task, kernels, files: [resolve(file)], ...here },
    { onprogress: (step) => steps.push(step) });
  const count = result.structuredContent.items.length;
  const grows = steps.every((step, i) => i === 0 || step.progress > steps[i - 1].progress);
  const last = steps.at(-1)?.message ?? "";
  return [!result.isError && grows && count === 4 && last.includes("4/4 judged"), `${steps.length} steps, last: ${last}`];
});
await check("profile", () => answers("profile", { task, kernel, ...here }));
await check("race", () => answers("race", { task, a: kernel, b: { file: resolve(file) }, ...here }));
let kept = "";
await check("leaderboard", () => answers("leaderboard", { task }, (r) => {
  kept = String(r.structuredContent.rows[0].candidate_id);
  return r.structuredContent.rows[0].task === task;
}));
await check("get_kernel", () => answers("get_kernel", { id: `@${kept}` }, (r) => said(r).includes("__global__")));

await check("an unknown tool", async () => {
  const error = await call("evaluat", {}).catch((caught) => caught);
  return [error.code === -32602, error.message ?? said(error)];
});
const bad = [
  ["list_tasks", { all: true }, "unknown property"],
  ["describe_task", { task: "axpi" }, "axpy"],
  ["rules", { task: 7 }, "expected a string"],
  ["evaluate", { task, kernels: [{ name: "../x.cu", text }] }, "no name for a kernel"],
  ["profile", { task, kernel: { file: "/nowhere.cu" }, ...here }, "nowhere.cu"],
  ["race", { task, a: kernel }, "'b' is missing"],
  ["leaderboard", { top: -1 }, "expected 0 to"],
  ["get_kernel", { id: "@1", part: "all" }, "expected one of"],
];
for (const [name, args, words] of bad) {
  await check(`${name}: bad arguments`, () => isRefused(name, args, words));
}

const children = (pid) => readdirSync("/proc").filter((one) => {
  try {
    return /^\d+$/.test(one) && readFileSync(`/proc/${one}/stat`, "utf8").split(") ")[1].split(" ")[1] === String(pid);
  } catch {
    return false;
  }
});
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const ended = async (pids) => {
  const start = performance.now();
  while (pids.some((pid) => existsSync(`/proc/${pid}`)) && performance.now() - start < 5000) {
    await pause(10);
  }
  return [pids.length > 0 && !pids.some((pid) => existsSync(`/proc/${pid}`)),
    `${pids.length} child ended after ${(performance.now() - start).toFixed(0)} ms`];
};
const longCall = (one, settings) => one.callTool(
  { name: "evaluate", arguments: { task, kernels: Array(20).fill(0).map((_, i) => ({ text: text + `// ${i}\n` })), ...here } },
  undefined, settings).catch((error) => error);

await check("ping beside a call; cancel it", async () => {
  const abort = new AbortController();
  const running = longCall(client, { signal: abort.signal });
  await pause(500);
  const start = performance.now();
  await client.ping();
  const ping = performance.now() - start;
  const pids = children(client.transport.pid);
  abort.abort("enough");
  await running;
  const [good, words] = await ended(pids);
  return [good && ping < 100, `ping ${ping.toFixed(0)} ms; ${words}`];
});
await check("nine calls at once", async () => {
  const results = await Promise.all(Array(9).fill(0).map(() => call("list_tasks", {})));
  return [results.every((one) => !one.isError || /8 calls/.test(said(one))), `${results.filter((one) => one.isError).length} refused`];
});
await check("the client goes while a call runs", async () => {
  const other = await connect();
  longCall(other);
  await pause(500);
  const pids = children(other.transport.pid);
  await other.close();
  return ended(pids);
});
for (const signal of ["SIGTERM", "SIGKILL"]) {
  await check(`${signal} while a call runs`, async () => {
    const other = await connect();
    longCall(other);
    await pause(500);
    const pids = children(other.transport.pid);
    process.kill(other.transport.pid, signal);
    return ended(pids);
  });
}
await client.close();

/** The error codes that the server answers to lines, and then its exit code. */
function raw(lines) {
  return new Promise((done) => {
    const server = spawn(command, ["mcp", ...options], { env, stdio: ["pipe", "pipe", "ignore"] });
    let out = "";
    server.stdout.on("data", (bytes) => (out += bytes));
    server.on("close", (code) =>
      done([...out.trim().split("\n").map((line) => JSON.parse(line).error?.code ?? "ok"), `exit ${code}`].join(" ")));
    for (const line of lines) {
      server.stdin.write(line);
      server.stdin.write("\n");
    }
    server.stdin.end();
  });
}
const is = (found, wanted) => [found === wanted, found];
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
await check("malformed messages", async () => is(
  await raw(["{", Buffer.from([0x22, 0xff, 0x22]), "[]", "7", '{"jsonrpc":"2.0","id":1,"method":"nothing"}', "[".repeat(1e6), "\0", ping]),
  "-32700 -32700 -32600 -32600 -32600 -32700 -32700 ok exit 0"));
await check("a message of 40 MB", async () => is(await raw(["x".repeat(4e7), ping]), "-32600 ok exit 0"));
await check("nothing is left in the temporary folder", async () => {
  const left = readdirSync(scratch).filter((name) => name.startsWith("winnow-mcp"));
  return [left.length <= 1, left.join(" ") || "nothing"]; // SIGKILL leaves the folder of its call
});
rmSync(scratch, { recursive: true });
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
