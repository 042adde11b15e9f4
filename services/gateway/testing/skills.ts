import { hash } from 'node:crypto'
import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { skillMethods } from '#proto/skills.ts'
import type { GoodRequest } from './auth-requests.ts'

const name = 'count-parts'
const description = 'Counts parts.'
/** Letters of more than one byte, since a digest is of bytes. */
const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# Parts ≥ 1\n`
const digest = `sha256:${hash('sha256', text)}`

/** An agent with one skill. */
export const fakeSkills: Pick<Handlers<typeof agent>, keyof typeof skillMethods> = {
  skills: async () => ({ skills: [{ name, description, digest }] }),
  skill: async (asked) => {
    if (asked.name !== name) throw new ServiceError('not-found', `no such skill: ${asked.name}`)
    return { name, description, digest, text }
  },
}

/** A good request of every route about skills. */
export const skillRequests: Readonly<Record<string, GoodRequest>> = {
  'GET /api/v1/agent/skills': { url: '/api/v1/agent/skills' },
  'GET /api/v1/agent/skills/{name}': { url: `/api/v1/agent/skills/${name}` },
  'GET /.well-known/agent-skills/index.json': { url: '/.well-known/agent-skills/index.json' },
  'GET /.well-known/agent-skills/{name}/SKILL.md': { url: `/.well-known/agent-skills/${name}/SKILL.md` },
}
