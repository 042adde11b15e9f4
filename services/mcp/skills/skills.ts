import type { McpServer } from '@modelcontextprotocol/server'
import { type Skill, skillEntry, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { agent } from '#proto/agent.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'

/** Cache hint of skills, which change only with a release. */
const cacheHint = { ttlMs: 300_000, cacheScope: 'public' } as const

/** Registers the skills of the agent for one request, through the skills extension of the protocol. */
export type RegisterSkills = (server: McpServer, call: CallContext) => void

/** Returns the registration of skills. They are not listed as resources, because the extension has its own list. */
export const openSkillRegistration = (client: ServiceClient<typeof agent>): RegisterSkills => {
  const entries = openEntries(client)
  return (server, call) =>
    new SkillsExtension({
      cacheHint: cacheHint,
      onWarning: ({ path, message }) => {
        throw new Error(`${path}: ${message}`)
      },
      source: {
        list: async () => {
          const { skills } = await client.skills({}, call)
          return { skills: await Promise.all(skills.map((skill) => entries(skill, call))) }
        },
        get: async (uri) => {
          const found = await findSkill(client, uri, call)
          return found && (await entries(found, call))
        },
        read: async (uri) => {
          const found = await findSkill(client, uri, call)
          return found && { text: found.text, mimeType: 'text/markdown' }
        },
      },
    }).attach(server)
}

/** Returns a function that loads the protocol entry of a skill and caches it until the file of the skill changes. */
const openEntries = (client: ServiceClient<typeof agent>) => {
  const known = new Map<string, { digest: string; entry: Skill }>()
  return async ({ name, digest }: { name: string; digest: string }, call: CallContext): Promise<Skill> => {
    const cached = known.get(name)
    if (cached?.digest === digest) return cached.entry
    const { text } = await client.skill({ name }, call)
    const entry = await skillEntry(name, { 'SKILL.md': text })
    known.set(name, { digest, entry })
    return entry
  }
}

/** Returns the skill with this URI; undefined if there is none. */
const findSkill = async (client: ServiceClient<typeof agent>, uri: string, call: CallContext) => {
  const [, name] = /^skill:\/\/([^/]+)\/SKILL\.md$/.exec(uri) ?? []
  if (name === undefined) return undefined
  try {
    return await client.skill({ name }, call)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not-found') return undefined
    throw error
  }
}
