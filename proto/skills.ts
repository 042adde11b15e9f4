import { z } from 'zod'
import { rpc } from './contract.ts'

/** Name of a skill according to agentskills.io. */
export const SkillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower case letters and digits in words joined by single dashes')

/** The description of a skill before it is loaded. */
export const SkillSummary = z.object({
  name: SkillName,
  description: z.string(),
  /** `sha256:` and the hexadecimal hash of the file's bytes. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest of a file'),
})
export type SkillSummary = z.infer<typeof SkillSummary>

const common = { callers: ['gateway', 'mcp'], safe: true } as const

/** Methods of `agent` for skills, which are the same for all users. */
export const skillMethods = {
  skills: rpc({
    doc: 'Lists all skills by name.',
    ...common,
    input: z.object({}),
    output: z.object({ skills: z.array(SkillSummary) }),
  }),
  skill: rpc({
    doc: 'Returns the file of one skill. `not-found` with the nearest names for an unknown one.',
    ...common,
    input: z.object({ name: z.string().max(256) }),
    output: SkillSummary.extend({ text: z.string() }),
  }),
}
