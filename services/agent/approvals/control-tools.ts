import { z } from 'zod'
import { controlTools as parameters } from '#proto/agent.ts'
import { type Call, mayUse } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { inCloudMode } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { ofHost } from '#shared/tools/tool-parameters.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { agentSettings } from '../config.ts'

type Parameters = typeof parameters

interface Traits<N extends keyof Parameters> {
  name: N
  title: string
  description: string
  /** What each parameter is for. */
  meanings: Readonly<Record<keyof Parameters[N] & string, string>>
}

const tool = <N extends keyof Parameters>({ name, title, description, meanings }: Traits<N>): Tool => ({
  name,
  title,
  description: `${description} A person has to approve it first; say before why it is needed.`,
  input: z.strictObject({ ...ofHost, ...described(parameters[name], meanings) }),
  feature: null,
  kind: 'control',
  core: false,
  // What a person approved is carried out at the door, in that person's name; there is no other way.
  run: async () => {
    throw new ServiceError('forbidden', `${name} is carried out only once a person has approved it`)
  },
})

const described = (shape: Readonly<Record<string, z.ZodType>>, meanings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(shape).map(([name, type]) => [name, type.describe(meanings[name] ?? '')]))

const ofTable = { database: 'Database of the table', table: 'The table' }

/** What may be done to a host once a person has approved it. */
export const controlTools: readonly Tool[] = [
  tool({
    name: 'kill_query',
    title: 'End a query',
    description: 'Ends one running query by its query id.',
    meanings: { queryId: 'Id of the running query' },
  }),
  tool({
    name: 'kill_mutation',
    title: 'Stop a mutation',
    description: 'Stops one mutation of a table for good; what it has rewritten stays.',
    meanings: { ...ofTable, mutationId: 'As system.mutations names it' },
  }),
  tool({
    name: 'optimize_table',
    title: 'Merge parts',
    description: 'Merges the parts of a table or of one partition, which takes disk and time.',
    meanings: {
      ...ofTable,
      partitionId: 'As system.parts names it; all partitions without it',
      final: 'Merge even where one part is left',
      deduplicate: 'Remove rows that are all alike',
    },
  }),
]

/**
 * Whether whoever asks may have the agent wish for changes. Callers of whom nothing is known come as far as the agent only where there is
 * no sign-in at all, or as guests of cloud mode, who never may. A key must be one that may write.
 */
export const mayWish = ({ identity }: Call, env: Environment): boolean => {
  const { AGENT_ENABLE_CONTROL_TOOLS: enabled } = read(agentSettings, env)
  const isCloud = inCloudMode(env)
  if (!(enabled ?? !isCloud)) return false
  if (identity.kind === 'guest' || (identity.kind === 'anonymous' && isCloud)) return false
  const mayWrite = identity.scopes === undefined || identity.scopes.includes('write')
  return mayWrite && mayUse(identity, 'ACTIONS')
}
