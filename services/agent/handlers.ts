import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import { conversationHandlers } from './conversations/handlers.ts'
import { externalHandlers } from './external/handlers.ts'
import { modelHandlers } from './models/handlers.ts'
import type { Parts } from './parts.ts'
import { skillHandlers } from './skills/handlers.ts'
import { decideEgress, settleApproval, takeApproval } from './approvals/handlers.ts'
import { read, stop } from './runs/handlers.ts'
import { start } from './loop/start.ts'
import { summarise } from './models/summarise.ts'

/** One file per method of the contract, or per topic. */
export const handlers = (parts: Parts): Handlers<typeof agent> => ({
  start: start(parts),
  read: read(parts),
  stop: stop(parts),
  takeApproval: takeApproval(parts),
  settleApproval: settleApproval(parts),
  decideEgress: decideEgress(parts),
  summarise: summarise(parts),
  ...conversationHandlers(parts.conversations),
  ...modelHandlers(parts),
  ...skillHandlers(parts.skills),
  ...externalHandlers(parts),
})
