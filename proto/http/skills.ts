import { z } from 'zod'
import { SkillName, SkillSummary } from '../skills.ts'
import { createResponseSchema } from './response.ts'

/** Response of `GET /api/v1/agent/skills`. */
export const SkillsResponse = createResponseSchema(z.array(SkillSummary), z.object({ count: z.int() }))

/** Response of `GET /api/v1/agent/skills/{name}`; `text` is the complete file. */
export const SkillResponse = createResponseSchema(SkillSummary.extend({ text: z.string() }), z.object({}))

/** `GET /.well-known/agent-skills/index.json`, in the format of agentskills.io. */
export const SkillIndex = z.object({
  $schema: z.literal('https://schemas.agentskills.io/discovery/0.2.0/schema.json'),
  skills: z.array(
    z.object({
      name: SkillName,
      type: z.literal('skill-md'),
      description: z.string(),
      /** URL of the file, relative to the index. */
      url: z.string(),
      /** `sha256:` and the hexadecimal hash of the file's bytes. */
      digest: z.string(),
    }),
  ),
})
