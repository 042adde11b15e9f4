import type { Script } from '../agent/testing/script.ts'

const tokensPerSecond = 200
/** Typical time to the first token of a model. */
const thinksMs = 400
const words = (count: number) => 'word '.repeat(count).trim()
const calling = (sql: string) => ({ say: [{ call: 'query', with: { sql } }], tokensPerSecond, thinksMs })

/** The scripted responses of the model in benchmarks. */
export const acts: Readonly<Record<string, Script>> = {
  /** Three sequential tool calls, then a response of four hundred words. */
  work: [
    calling('SELECT 1'),
    calling('SELECT 2'),
    calling('SELECT 3'),
    { say: [{ text: words(400) }], tokensPerSecond, thinksMs },
  ],
  /** An immediate response. */
  greeting: [{ say: [{ text: words(20) }], tokensPerSecond, thinksMs }],
  /** A long response, so that many run concurrently. */
  crowd: [{ say: [{ text: words(300) }], tokensPerSecond: 15, thinksMs }],
}
