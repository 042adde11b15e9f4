import type { McpServer } from '@modelcontextprotocol/server'
import { type Skill, skillEntry, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import type { agent } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'

/** As long as a skill may be kept; they change with a release alone. */
const ofAll = { ttlMs: 300_000, cacheScope: 'public' } as const

/** Offers the skills of the agent to the calls of one request, as the extension of the protocol for skills has it. */
export type OfferSkills = (server: McpServer, call: Call) => void

/** Not told among the resources, of which there are few: the extension has a list of its own. */
export const openSkillOffer = (asked: Client<typeof agent>): OfferSkills => {
  const entries = openEntries(asked)
  return (server, call) =>
    new SkillsExtension({
      cacheHint: ofAll,
      onWarning: ({ path, message }) => {
        throw new Error(`${path}: ${message}`)
      },
      source: {
        list: async () => {
          const { skills } = await asked.skills({}, call)
          return { skills: await Promise.all(skills.map((skill) => entries(skill, call))) }
        },
        get: async (uri) => {
          const found = await find(asked, uri, call)
          return found && (await entries(found, call))
        },
        read: async (uri) => {
          const found = await find(asked, uri, call)
          return found && { text: found.text, mimeType: 'text/markdown' }
        },
      },
    }).attach(server)
}

/** What the protocol tells of a skill, made anew when its file is another one. */
const openEntries = (asked: Client<typeof agent>) => {
  const known = new Map<string, { digest: string; entry: Skill }>()
  return async ({ name, digest }: { name: string; digest: string }, call: Call): Promise<Skill> => {
    const kept = known.get(name)
    if (kept?.digest === digest) return kept.entry
    const { text } = await asked.skill({ name }, call)
    const entry = await skillEntry(name, { 'SKILL.md': text })
    known.set(name, { digest, entry })
    return entry
  }
}

/** The skill whose file is at an address; undefined when there is none. */
const find = async (asked: Client<typeof agent>, uri: string, call: Call) => {
  const [, name] = /^skill:\/\/([^/]+)\/SKILL\.md$/.exec(uri) ?? []
  if (name === undefined) return undefined
  try {
    return await asked.skill({ name }, call)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not-found') return undefined
    throw error
  }
}
