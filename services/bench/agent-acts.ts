import type { Script } from '../agent/testing/script.ts'

const tokensPerSecond = 200
/** As long as usual models take before they begin to speak. */
const thinksMs = 400
const words = (count: number) => 'word '.repeat(count).trim()
const calling = (sql: string) => ({ say: [{ call: 'query', with: { sql } }], tokensPerSecond, thinksMs })

/** What the model of a benchmark says. */
export const acts: Readonly<Record<string, Script>> = {
  /** Three calls of a tool, one after the other, and an answer of four hundred words. */
  work: [
    calling('SELECT 1'),
    calling('SELECT 2'),
    calling('SELECT 3'),
    { say: [{ text: words(400) }], tokensPerSecond, thinksMs },
  ],
  /** An answer at once. */
  greeting: [{ say: [{ text: words(20) }], tokensPerSecond, thinksMs }],
  /** A long answer, so that many run at the same time. */
  crowd: [{ say: [{ text: words(300) }], tokensPerSecond: 15, thinksMs }],
}
