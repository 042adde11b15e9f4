import type { z } from 'zod'
import { evidenceOfCall } from './evidence/of-call.ts'
import { readTool, type ReadTraits } from './read-tool.ts'

/** Declares tools that read of something which is none of the hosts; evidence names it instead of one. */
const toolOf =
  (hostKey: string) =>
  <I extends z.ZodObject>(traits: ReadTraits<I>) =>
    readTool({
      ...traits,
      run: async (input, asking) => {
        const answer = await traits.run(input, asking)
        const called = { hostKey, tool: traits.name, input, atMs: asking.clock.now() }
        return { ...answer, evidence: [evidenceOfCall(called, answer)] }
      },
    })

/** Declares a tool that reads of the PostgreSQL source. */
export const postgresTool = toolOf('PostgreSQL source')
/** Declares a tool that reads of the replication service. */
export const repldbTool = toolOf('Replication service')
