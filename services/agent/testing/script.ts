import { reminder } from '../loop/prompt.ts'
import type { ChatRequest } from './strict-request.ts'

/** Something that a scripted model says. */
export type Piece =
  | { text: string }
  | { reasoning: string }
  /** Arguments that are text are sent as they are, JSON or not. */
  | { call: string; with?: Record<string, unknown> | string }

/** One turn of a scripted model, or one way for its gateway to fail. */
export type Turn =
  | {
      say: readonly Piece[]
      /** As gateways name it; `cut` ends the stream in the middle. */
      ending?: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'cut'
      tokensPerSecond?: number
      /** How long it thinks before it begins. */
      thinksMs?: number
    }
  /** Refused at once. */
  | { status: number; code?: string; headers?: Record<string, string> }
  /** Sent as it is, after the head of a stream. */
  | { raw: string }
  /** Nothing is said, and the connection stays. */
  | { silent: true }

/** What a model is to say: its turns one after the other, the last one ever again, or whatever is made of the question. */
export type Script = readonly Turn[] | ((request: ChatRequest) => Turn)

/** The turn that a request is for: as many as the model has had since the person spoke last. */
export const turnOf = (script: Script, request: ChatRequest): Turn => {
  if (typeof script === 'function') return script(request)
  const turn = script[Math.min(turnsTaken(request), script.length - 1)]
  if (turn === undefined) throw new Error('the script has no turn')
  return turn
}

/** Turns that the model has had since the person spoke last. */
export const turnsTaken = ({ messages }: ChatRequest): number => {
  const asked = messages.findLastIndex(isOfPerson)
  return messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length
}

/** What the person asked last. */
export const questionOf = ({ messages }: ChatRequest): string => messages.findLast(isOfPerson)?.content ?? ''

/** Evidence that the results since then have named. */
export const evidenceOf = ({ messages }: ChatRequest): string[] => {
  const asked = messages.findLastIndex(isOfPerson)
  return messages
    .slice(asked + 1)
    .flatMap(({ role, content }) =>
      role === 'tool' ? (/^Evidence: (.+)\.$/m.exec(content ?? '')?.[1]?.split(', ') ?? []) : [],
    )
}

const isOfPerson = ({ role, content }: ChatRequest['messages'][number]): boolean =>
  role === 'user' && !content?.startsWith(reminder)
