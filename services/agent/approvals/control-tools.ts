import { z } from 'zod'
import { controlTools as parameters } from '#proto/agent.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { ofHost } from '#shared/tools/tool-parameters.ts'

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
