import type { Logger } from 'pino'
import type { AgentQuestion } from '#proto/agent.ts'
import type { CallContext } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { SettingValues } from '#shared/config/setting.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import type { ToolContext } from '#shared/tools/tool.ts'
import type { ApprovalRequests } from '../approvals/approval-requests.ts'
import type { agentSettings } from '../config.ts'
import type { EgressRequests } from '../egress/egress-requests.ts'
import type { HostText } from '../egress/host-text.ts'
import type { EvidenceLedger } from './evidence.ts'
import type { ChosenModel } from '../models/model-choice.ts'
import type { Run } from '../runs/run.ts'
import type { UsageMeter, AnswerTimeBudget, ToolCallLimiter } from './answer-limits.ts'
import type { Plan } from './plan.ts'
import type { Toolbox } from './toolbox.ts'

/** The state and dependencies of one answer. */
export interface AnswerContext {
  question: AgentQuestion
  run: Run
  /** The call context of the answer: the identity of the caller, and a signal that aborts the answer. */
  call: CallContext
  model: ChosenModel
  settings: SettingValues<typeof agentSettings>
  /** The context that tools receive, except `call`, which each tool call supplies itself. */
  context: Omit<ToolContext, 'call'>
  env: Environment
  emit: ChunkEmitter
  toolbox: Toolbox
  ledger: EvidenceLedger
  plan: Plan
  tries: ToolCallLimiter
  meter: UsageMeter
  time: AnswerTimeBudget
  approvalRequests: ApprovalRequests
  egress: EgressRequests
  /** The text that tools have read from hosts in the conversation, including earlier answers. */
  hostText: HostText
  log: Logger
  tracer: Tracer
}

/** The chunk types of the AI SDK's UI message stream, version 1, that answers contain. */
type Chunk =
  | { type: 'start'; messageId: string; messageMetadata: { runId: string } }
  | { type: 'start-step' | 'finish-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; title?: string }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; title?: string }
  | { type: 'tool-input-error'; toolCallId: string; toolName: string; input: unknown; errorText: string }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: `data-${string}`; id?: string; data: unknown }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: FinishReason }

/** The finish reasons of the AI SDK. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'error'

/** Sends one chunk to the readers of the run. */
export type ChunkEmitter = (chunk: Chunk) => void

export const createChunkEmitter =
  (run: Run): ChunkEmitter =>
  (chunk) =>
    run.emit(JSON.stringify(chunk))

/** The data of the last event of a stream. */
export const streamEndMarker = '[DONE]'
