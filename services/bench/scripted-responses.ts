import type { ModelScript } from '../agent/testing/model-script.ts'

const tokensPerSecond = 200
/** Typical time of a model to its first token, in milliseconds. */
const thinksMs = 400
const words = (count: number) => 'word '.repeat(count).trim()
const calling = (sql: string) => ({ say: [{ call: 'query', with: { sql } }], tokensPerSecond, thinksMs })

/** Scripts of model responses for benchmarks, by name. */
export const modelScripts: Readonly<Record<string, ModelScript>> = {
  /** Three tool calls, one per step, then a response of four hundred words. */
  work: [
    calling('SELECT 1'),
    calling('SELECT 2'),
    calling('SELECT 3'),
    { say: [{ text: words(400) }], tokensPerSecond, thinksMs },
  ],
  /** A short response without tool calls. */
  greeting: [{ say: [{ text: words(20) }], tokensPerSecond, thinksMs }],
  /** A slow, long response, so that many runs are concurrent. */
  crowd: [{ say: [{ text: words(300) }], tokensPerSecond: 15, thinksMs }],
}
