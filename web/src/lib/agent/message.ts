import type { z } from 'zod'
import type {
  ApprovalPart,
  ChartPart,
  ClaimsPart,
  EgressPart,
  ErrorPart,
  PlanPart,
  UsagePart,
} from '#proto/agent-parts.ts'
import type { NumberedEvidence } from '#proto/evidence.ts'

/** What somebody said, as the AI SDK writes it. */
export interface Message {
  id: string
  role: 'user' | 'assistant'
  metadata?: { isStopped?: boolean }
  parts: Part[]
}

export type Part = WordsPart | ToolPart | DataPart | { type: 'step-start' }

export interface WordsPart {
  type: 'text' | 'reasoning'
  text: string
  state: 'streaming' | 'done'
}

/** One call of a tool. */
export interface ToolPart {
  type: `tool-${string}`
  toolCallId: string
  title?: string
  state: 'input-streaming' | 'input-available' | 'output-available' | 'output-error'
  input?: unknown
  output?: unknown
  errorText?: string
  /** When it was called, and how long this browser waited for what came of it. */
  calledAtMs?: number
  tookMs?: number
}

export interface DataPart {
  type: `data-${string}`
  id?: string
  data: unknown
}

/** What the parts of ours are about. */
interface DataOf {
  'data-plan': z.infer<typeof PlanPart>
  'data-chart': ChartPart
  'data-evidence': NumberedEvidence
  'data-claims': z.infer<typeof ClaimsPart>
  'data-usage': UsagePart
  'data-approval': ApprovalPart
  'data-egress': EgressPart
  'data-error': ErrorPart
  'data-run-lost': ErrorPart
}

export const isTool = (part: Part): part is ToolPart => part.type.startsWith('tool-')
export const isWords = (part: Part): part is WordsPart => part.type === 'text' || part.type === 'reasoning'
export const isData = (part: Part): part is DataPart => part.type.startsWith('data-')

/** What the parts of a type say. */
export const dataOf = <T extends keyof DataOf>(parts: readonly Part[], type: T): DataOf[T][] =>
  // The service holds every part against the schema of its type before it tells it.
  parts.flatMap((part) => (isData(part) && part.type === type ? [part.data as DataOf[T]] : []))

export const textOf = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' && 'text' in part ? [part.text] : [])).join('\n\n')

export const personSaid = (id: string, text: string): Message => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text, state: 'done' }],
})
