import type { z } from 'zod'
import type {
  ApprovalPart,
  ChartPart,
  ClaimsPart,
  CorrectionPart,
  EgressPart,
  ErrorPart,
  PlanPart,
  UsagePart,
} from '#proto/agent-parts.ts'
import type { NumberedEvidence } from '#proto/evidence.ts'

/** A message in the format of the AI SDK. */
export interface Message {
  id: string
  role: 'user' | 'assistant'
  metadata?: { isStopped?: boolean }
  parts: MessagePart[]
}

export type MessagePart = TextOrReasoningPart | ToolPart | DataPart | { type: 'step-start' }

export interface TextOrReasoningPart {
  type: 'text' | 'reasoning'
  text: string
  state: 'streaming' | 'done'
}

export interface ToolPart {
  type: `tool-${string}`
  toolCallId: string
  title?: string
  state: 'input-streaming' | 'input-available' | 'output-available' | 'output-error'
  input?: unknown
  output?: unknown
  errorText?: string
  /** When the call was received, in epoch milliseconds. `tookMs` is the time until its result. */
  calledAtMs?: number
  tookMs?: number
}

export interface DataPart {
  type: `data-${string}`
  id?: string
  data: unknown
}

/** Types of the data in the custom data parts of the stream, by part type. */
interface DataOf {
  'data-plan': z.infer<typeof PlanPart>
  'data-chart': ChartPart
  'data-evidence': NumberedEvidence
  'data-claims': z.infer<typeof ClaimsPart>
  'data-correction': z.infer<typeof CorrectionPart>
  'data-usage': UsagePart
  'data-approval': ApprovalPart
  'data-egress': EgressPart
  'data-error': ErrorPart
  'data-run-lost': ErrorPart
}

export const isToolPart = (part: MessagePart): part is ToolPart => part.type.startsWith('tool-')
export const isTextOrReasoningPart = (part: MessagePart): part is TextOrReasoningPart =>
  part.type === 'text' || part.type === 'reasoning'
export const isDataPart = (part: MessagePart): part is DataPart => part.type.startsWith('data-')

/** Returns the data of all parts of a type. */
export const getPartData = <T extends keyof DataOf>(parts: readonly MessagePart[], type: T): DataOf[T][] =>
  // The service validates every part against the schema of its type before it sends it.
  parts.flatMap((part) => (isDataPart(part) && part.type === type ? [part.data as DataOf[T]] : []))

export const getMessageText = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' && 'text' in part ? [part.text] : [])).join('\n\n')

export const createUserMessage = (id: string, text: string): Message => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text, state: 'done' }],
})
