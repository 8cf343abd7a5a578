// Reads one request a line, `{"tool": …}` in the form of the AI SDK's providers, and answers each with one line: what
// the AI SDK makes of the tool's input schema, and the tool that its Anthropic provider sends.
import { createInterface } from "node:readline";
import { prepareTools, sanitizeJsonSchema } from "@ai-sdk/anthropic/internal";
import { asSchema } from "@ai-sdk/provider-utils";

// Its public way to `addAdditionalPropertiesToJsonSchema`: a schema from another library, which only has JSON Schema.
const closed = (schema) =>
  asSchema({
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }).jsonSchema;

const outcome = async (make) => {
  try {
    return { value: await make() };
  } catch (error) {
    return { error: String(error) };
  }
};

for await (const line of createInterface({ input: process.stdin })) {
  const { tool } = JSON.parse(line);
  const schema = () => structuredClone(tool.inputSchema);
  const sent = async () => {
    const options = { toolChoice: undefined, supportsStructuredOutput: true, supportsStrictTools: true };
    const { tools } = await prepareTools({ tools: [{ type: "function", ...structuredClone(tool) }], ...options });
    return tools[0];
  };
  const answer = {
    closed: await outcome(async () => closed(schema())),
    anthropic: await outcome(async () => sanitizeJsonSchema(schema())),
    sent: await outcome(sent),
  };
  process.stdout.write(JSON.stringify(answer) + "\n");
}
