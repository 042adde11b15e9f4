/** A state of a host, a question about it, and what a right answer says. */
export interface Scenario {
  name: string
  question: string
  /** What brings the host into the state, and takes it away again. */
  set: readonly string[]
  /** Has rows once the state is reached, where that takes a while. */
  until?: string
  /** Statements that the host has to refuse, which leaves a trace too. */
  refused?: readonly string[]
  /** The user of the statements that are refused. */
  refusedUser?: string
  after?: readonly string[]
  /** All of these stand in an answer that names the cause. */
  names: readonly RegExp[]
  /** None of these stands in an answer that is right. */
  never?: readonly RegExp[]
  /** Whether the answer is about the host, so that it has to rest on evidence. */
  restsOnEvidence: boolean
  /** Most calls of tools; null where any number will do. */
  mostCalls: number | null
  /** What the scripted model does: the calls of each step, and then what it quotes of their results. */
  script: { steps: readonly (readonly Called[])[]; quotes: readonly RegExp[]; says?: string }
}

/** A call of a tool. */
export type Called = readonly [name: string, input: Record<string, unknown>]

/** Most steps and tokens of one answer that is not too dear. */
export const budget = { steps: 12, tokens: 150_000 } as const
