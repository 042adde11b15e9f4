import { z } from 'zod'
import { controlTools as parameters } from '#proto/agent.ts'
import { ServiceError } from '#proto/errors.ts'
import type { AgentTool } from '../tool.ts'

type Name = keyof typeof parameters

const tool = (name: Name, title: string, description: string): AgentTool => ({
  name,
  title,
  description: `${description} A person has to approve it first; say before why it is needed.`,
  input: z.strictObject({
    hostId: z.int().describe('Position in the list of hosts').optional(),
    ...parameters[name],
  }),
  kind: 'control',
  core: false,
  untrusted: false,
  // What a person approved is carried out at the door, in that person's name; there is no other way.
  run: async () => {
    throw new ServiceError('forbidden', `${name} is carried out only once a person has approved it`)
  },
})

/** What may be done to a host once a person has approved it. */
export const controlTools: readonly AgentTool[] = [
  tool('kill_query', 'End a query', 'Ends one running query by its query id.'),
  tool('kill_mutation', 'Stop a mutation', 'Stops one mutation of a table for good; what it has rewritten stays.'),
  tool('optimize_table', 'Merge parts', 'Merges the parts of a table or of one partition, which takes disk and time.'),
]
