import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import { fakeRuns } from './agent-runs.ts'
import { fakeConversations } from './conversations.ts'
import { fakeModels } from './models.ts'
import { fakeSkills } from './skills.ts'

/** An `agent` that has conversations and models, and little to say. */
export const fakeAgent: Handlers<typeof agent> = {
  ...fakeRuns,
  prune: async () => ({ removed: { conversations: 3 } }),
  ...fakeConversations,
  ...fakeModels,
  ...fakeSkills,
  summarise: async () => ({ summary: 'All is well.' }),
}
