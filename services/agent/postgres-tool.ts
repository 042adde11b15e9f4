import type { z } from 'zod'
import { evidenceOfCall } from './evidence/of-call.ts'
import { readTool, type ReadTraits } from './read-tool.ts'

/** What evidence names instead of a host. */
const hostKey = 'PostgreSQL source'

/** Declares a tool that reads of the PostgreSQL source, which is none of the hosts. */
export const postgresTool = <I extends z.ZodObject>(traits: ReadTraits<I>) =>
  readTool({
    ...traits,
    run: async (input, asking) => {
      const answer = await traits.run(input, asking)
      const called = { hostKey, tool: traits.name, input, atMs: asking.clock.now() }
      return { ...answer, evidence: [evidenceOfCall(called, answer)] }
    },
  })
