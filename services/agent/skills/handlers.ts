import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import type { skillMethods } from '#proto/skills.ts'
import type { Skills } from './open.ts'

/** Tells of the guides, which are the same for everybody. */
export const skillHandlers = (skills: Skills): Pick<Handlers<typeof agent>, keyof typeof skillMethods> => ({
  skills: async () => ({ skills: [...skills.list()] }),
  skill: async ({ name }) => {
    const { text, description, digest } = skills.load(name)
    return { name, description, digest, text }
  },
})
