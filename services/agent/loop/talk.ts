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
import type { Ledger } from '../evidence/ledger.ts'
import type { ChosenModel } from '../models/choose.ts'
import type { Run } from '../runs/run.ts'
import type { Tell } from './chunk.ts'
import type { Meter } from './meter.ts'
import type { Plan } from './plan.ts'
import type { TimeLeft } from './time-left.ts'
import type { Toolbox } from './toolbox.ts'
import type { Tries } from './tries.ts'

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
