import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import { conversationHandlers } from './conversations/open.ts'
import { externalHandlers } from './external/open.ts'
import { modelHandlers } from './models/open.ts'
import type { Parts } from './parts.ts'
import { skillHandlers } from './skills/skills.ts'
import { resolveApproval, takeApproval } from './approvals/approval-requests.ts'
import { decideEgress } from './egress/egress-requests.ts'
import { read, stop } from './runs/runs.ts'
import { start } from './loop/start.ts'
import { summarise } from './models/complete-text.ts'

export const handlers = (parts: Parts): Handlers<typeof agent> => ({
  start: start(parts),
  read: read(parts),
  stop: stop(parts),
  takeApproval: takeApproval(parts),
  resolveApproval: resolveApproval(parts),
  decideEgress: decideEgress(parts),
  summarise: summarise(parts),
  ...conversationHandlers(parts.conversations),
  ...modelHandlers(parts),
  ...skillHandlers(parts.skills),
  ...externalHandlers(parts),
})
