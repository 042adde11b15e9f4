import type { Logger } from 'pino'
import type { AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Values } from '#shared/config/setting.ts'
import type { ToolContext } from '#shared/tools/tool.ts'
import type { Wishes } from '../approvals/wishes.ts'
import type { agentSettings } from '../config.ts'
import type { EgressRequests } from '../egress/egress-requests.ts'
import type { HostText } from '../egress/host-text.ts'
import type { Ledger } from './evidence.ts'
import type { ChosenModel } from '../models/choose.ts'
import type { Run } from '../runs/run.ts'
import type { Meter, TimeLeft, Tries } from './answer-limits.ts'
import type { Plan } from './plan.ts'
import type { Toolbox } from './toolbox.ts'

/** All that one answer has at hand while it is made. */
export interface Talk {
  question: AgentQuestion
  run: Run
  /** Identity of whoever asked, and the signal that ends everything at once. */
  call: Call
  model: ChosenModel
  settings: Values<typeof agentSettings>
  /** What tools may reach; each call of a tool gets a call and a record of its own. */
  context: Omit<ToolContext, 'call'>
  env: Environment
  tell: Tell
  toolbox: Toolbox
  ledger: Ledger
  plan: Plan
  tries: Tries
  meter: Meter
  time: TimeLeft
  wishes: Wishes
  egress: EgressRequests
  /** What tools have read so far, in earlier answers too. */
  hostText: HostText
  log: Logger
}

/** What the UI message stream of the AI SDK, version 1, is made of, as far as answers need it. */
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

/** Why an answer has ended, in the words of the AI SDK. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'error'

/** Tells one chunk to whoever reads the run. */
export type Tell = (chunk: Chunk) => void

export const tellerOf =
  (run: Run): Tell =>
  (chunk) =>
    run.tell(JSON.stringify(chunk))

/** The line after which nothing comes. */
export const done = '[DONE]'
