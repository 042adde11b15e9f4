import { noQuery } from '#proto/http/parameters.ts'
import { SkillAnswer, SkillIndex, SkillsAnswer } from '#proto/http/skills.ts'
import { getRoute, type Route, textRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

/** The guides are part of the product and tell nothing of anybody's hosts, so no feature closes them. */
const common = { feature: null, limit: 'data', query: noQuery } as const
const api = { ...common, access: 'read' } as const
/** Where other agents look, who have no key yet. */
const open = { ...common, access: 'anonymous' } as const

const list = getRoute({
  ...api,
  path: '/api/v1/agent/skills',
  doc: 'Expert guides that the agent loads when a question needs depth',
  revalidated: true,
  answer: SkillsAnswer,
  handle: async ({ call }, { agent }) => {
    const { skills } = await agent.skills({}, call)
    return success(skills, { count: skills.length })
  },
})

const one = getRoute({
  ...api,
  path: '/api/v1/agent/skills/{name}',
  doc: 'One expert guide, with its text in Markdown',
  revalidated: true,
  answer: SkillAnswer,
  handle: async ({ path, call }, { agent }) => success(await agent.skill({ name: path.name }, call), {}),
})

const index = getRoute({
  ...open,
  path: '/.well-known/agent-skills/index.json',
  doc: 'Which skills other agents can fetch here, with the digest of each',
  revalidated: true,
  answer: SkillIndex,
  handle: async ({ call }, { agent }) => {
    const { skills } = await agent.skills({}, call)
    return {
      $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json' as const,
      // Beside the index, so it is found at whatever address the product is reached.
      skills: skills.map((skill) => ({ ...skill, type: 'skill-md' as const, url: `${skill.name}/SKILL.md` })),
    }
  },
})

const file = textRoute({
  ...open,
  path: '/.well-known/agent-skills/{name}/SKILL.md',
  doc: 'One skill as a file, byte for byte as its digest says',
  mediaType: 'text/markdown; charset=utf-8',
  handle: async ({ path, call }, { agent }) => (await agent.skill({ name: path.name }, call)).text,
})

/** The guides of the agent, for people and for other agents. */
export const agentSkillRoutes: readonly Route[] = [list, one, index, file]
