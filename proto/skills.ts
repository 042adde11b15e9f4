import { z } from 'zod'
import { rpc } from './contract.ts'

/** Name of a skill, as agentskills.io specifies it. */
export const SkillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower case letters and digits in words joined by single dashes')

/** What is told of a skill before anybody loads it. */
export const SkillSummary = z.object({
  name: SkillName,
  description: z.string(),
  /** `sha256:` and the hexadecimal hash of the file's bytes. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest of a file'),
})
export type SkillSummary = z.infer<typeof SkillSummary>

const common = { callers: ['gateway', 'mcp'], safe: true } as const

/** Methods of `agent` about skills: guides that are the same for everybody. */
export const skillMethods = {
  skills: rpc({
    doc: 'All skills, by name.',
    ...common,
    input: z.object({}),
    output: z.object({ skills: z.array(SkillSummary) }),
  }),
  skill: rpc({
    doc: 'The file of one skill. `not-found` with the nearest names for an unknown one.',
    ...common,
    input: z.object({ name: z.string().max(256) }),
    output: SkillSummary.extend({ text: z.string() }),
  }),
}
