// A host in TypeScript: `recount rpc` as a child process, an agent loop around it. Node 22.18 or later runs it as it is:
//
//     node examples/host.ts [PATH/TO/recount]
//
// The model is a stand-in that answers by rule, so that the example runs anywhere. Replace `model` by a call to your provider
// with `request.body` as it is: send the text, do not parse and write it again, so that the bytes are those that the digest covers.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Block = { type: string; [key: string]: any };
type Reply = { content: Block[]; stop: string };
type Waiter = { resolve: (result: any) => void; reject: (error: Error) => void };

/** One child process; calls of different sessions may be under way at once. */
function start(binary: string, data: string) {
  const child = spawn(binary, ["--data", data, "rpc"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, Waiter>();
  let last = 0;
  createInterface({ input: child.stdout }).on("line", (line: string) => {
    const answer = JSON.parse(line);
    const waiter = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.error) waiter?.reject(new Error(`${answer.error.data.kind}: ${answer.error.message}`));
    else waiter?.resolve(answer.result);
  });
  return {
    call(method: string, params: object): Promise<any> {
      const id = ++last;
      child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method: "v1." + method, params }) + "\n");
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    close(): Promise<void> {
      child.stdin.end();
      return new Promise((resolve) => child.on("exit", () => resolve()));
    },
  };
}

/** Stands in for a provider: asks for a tool once, then answers with what the tool said. */
function model(request: { body: string }): Reply {
  const messages = JSON.parse(request.body).messages;
  const content: Block[] = messages[messages.length - 1].content;
  const result = content.find((block) => block.type === "tool_result");
  if (result) return { content: [{ type: "text", text: `The tool says: ${result.content}` }], stop: "end_turn" };
  const words = content[content.length - 1].text;
  const call = { type: "tool_use", id: `toolu_${messages.length}`, name: "count", input: { text: words } };
  return { content: [{ type: "text", text: "Let me count." }, call], stop: "tool_use" };
}

/** One turn of an agent: what the person says, then answers and tools until the model is done. */
async function turn(recount: ReturnType<typeof start>, session: string, words: string): Promise<string> {
  const say = { type: "message", role: "user", content: words };
  // A key makes the append safe to repeat: after a crash the same key gives the first answer again.
  await recount.call("session.append", { session, events: [say], key: randomUUID() });
  for (;;) {
    const prompt = await recount.call("session.prepare", { session, now: Date.now() });
    if (prompt.outcome !== "ready") throw new Error(`not ready: ${prompt.outcome}`);
    const reply = model(prompt.request);
    const message = { type: "message", role: "assistant", issued: prompt.digest, ...reply };
    // A response with a call is on disk when this returns: only then may its tools run.
    await recount.call("session.append", { session, events: [message] });
    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return reply.content[0].text;
    for (const call of calls) {
      const said = `${call.input.text.split(/\s+/).length} words`;
      await recount.call("session.append", { session, events: [{ type: "tool_result", call: call.id, content: said }] });
    }
  }
}

const data = mkdtempSync(join(tmpdir(), "recount-example-"));
const recount = start(process.argv[2] ?? "recount", data);
const session = "example";
await recount.call("session.open", { session, create: true, profile: "claude-sonnet-4-5" });
const tools = [{ name: "count", input_schema: { type: "object", properties: { text: { type: "string" } } } }];
await recount.call("session.append", { session, events: [{ type: "tools", tools }] });
console.log(await turn(recount, session, "How long is this sentence?"));
const before = (await recount.call("session.project", { session, heal: true })).digest;
console.log(await turn(recount, session, "And this one, which is a little longer?"));

const rolled = await recount.call("session.rollback", { session, to: { turns: 1 } });
console.log("rolled back:", rolled.digest === before);
await recount.call("session.undo", { session, event: rolled.event });
console.log("turns after the undo:", (await recount.call("session.status", { session })).turns);
await recount.close();
rmSync(data, { recursive: true });
