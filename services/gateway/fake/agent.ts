import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { fakeConversations } from './conversations.ts'
import { fakeModels } from './models.ts'

const gone = async (): Promise<never> => {
  throw new ServiceError('gone', 'nothing of this is there')
}

/** An `agent` that has conversations and models, and answers nothing. */
export const fakeAgent: Handlers<typeof agent> = {
  start: gone,
  read: gone,
  stop: gone,
  takeApproval: gone,
  settleApproval: gone,
  prune: async () => ({ removed: { conversations: 3 } }),
  ...fakeConversations,
  ...fakeModels,
}
