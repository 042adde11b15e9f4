import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Tool } from '#shared/tools/tool.ts'

/** How a person may answer. */
const kinds = ['single_choice', 'multi_choice', 'confirm', 'free_text', 'rating'] as const

export const askUser: Tool = {
  name: 'ask_user',
  title: 'Ask the person',
  description: 'Asks the person one question and waits, only when no tool can tell and the answer hangs on it.',
  input: z.strictObject({
    question: z.string().min(1).max(500).describe('One question'),
    kind: z.enum(kinds).default('free_text').describe('How it is answered'),
    options: z.array(z.string().min(1).max(200)).min(2).max(10).optional().describe('What to choose from'),
  }),
  feature: null,
  kind: 'ask',
  core: true,
  // The answer ends with the question; what the person says begins the next one.
  run: async () => {
    throw new ServiceError('invalid', 'only a person can answer this')
  },
}
