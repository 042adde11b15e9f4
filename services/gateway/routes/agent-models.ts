import {
  BeginSignInAnswer,
  BeginSignInRequest,
  ConfigCheckAnswer,
  ModelsAnswer,
  ModelSignInAnswer,
  ProbeAnswer,
  ProbeRequest,
  SignInCallbackQuery,
} from '#proto/http/models.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { SkillAnswer, SkillIndex, SkillsAnswer } from '#proto/http/skills.ts'
import { deleteRoute, getRoute, postRoute, redirectRoute, type Route, textRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const reading = { feature: 'AGENT', access: 'read', limit: 'data', query: noQuery } as const
const writing = { ...reading, access: 'write' } as const
const signInPath = '/api/v1/agents/sign-in'
const callbackPath = `${signInPath}/callback` as const

const models = getRoute({
  ...reading,
  path: '/api/v1/agents/models',
  doc: 'Language models that the agent can be asked to use, the default first',
  answer: ModelsAnswer,
  handle: async ({ call }, { agent }) => {
    const offered = await agent.models({}, call)
    return success(offered, { count: offered.models.length })
  },
})

const configCheck = getRoute({
  ...reading,
  path: '/api/v1/agents/config-check',
  doc: 'Which model gateways have keys, and which variables to set where one is missing',
  answer: ConfigCheckAnswer,
  handle: async ({ call }, { agent }) => success(await agent.modelCheck({}, call), {}),
})

const signIn = getRoute({
  ...reading,
  path: signInPath,
  doc: 'Whether the caller asks gateway C on an account of their own, or may',
  answer: ModelSignInAnswer,
  handle: async ({ call }, { agent }) => success(await agent.modelSignIn({}, call), {}),
})

const beginSignIn = postRoute({
  ...writing,
  path: signInPath,
  doc: 'Begins to sign the caller in with gateway C, and says where the browser is to go',
  body: BeginSignInRequest,
  answer: BeginSignInAnswer,
  handle: async ({ body, call, publicUrl }, { agent }) => {
    const redirectUri = `${publicUrl()}${callbackPath}`
    return success(await agent.beginModelSignIn({ redirectUri, returnTo: body.return }, call), {})
  },
})

const endSignIn = redirectRoute({
  ...writing,
  path: callbackPath,
  doc: 'Where gateway C sends people back to',
  query: SignInCallbackQuery,
  refuses: [409],
  handle: async ({ query, call, publicUrl }, { agent }) => {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    )
    const sentBack = { state: query.state, query: new URLSearchParams(given).toString() }
    const { returnTo, signedIn } = await agent.endModelSignIn(sentBack, call)
    const page = new URL(returnTo, publicUrl())
    page.searchParams.set('model-sign-in', signedIn ? 'done' : 'refused')
    return page.href
  },
})

const forgetSignIn = deleteRoute({
  ...writing,
  path: signInPath,
  doc: 'Forgets the key that gateway C gave for the caller; it ends there by itself, or when it is revoked there',
  answer: ModelSignInAnswer,
  handle: async ({ call }, { agent }) => success(await agent.endModelSession({}, call), {}),
})

const probe = postRoute({
  ...writing,
  path: '/api/v1/mcp/probe',
  doc: 'Asks a tool server of the caller what it offers, as the agent would use it',
  limit: 'agent',
  body: ProbeRequest,
  answer: ProbeAnswer,
  handle: async ({ body, call }, { agent }) => success(await agent.probeServer(body, call), {}),
})

/** Language models, and the tool servers that callers bring. */
export const agentModelRoutes: readonly Route[] = [
  models,
  configCheck,
  signIn,
  beginSignIn,
  endSignIn,
  forgetSignIn,
  probe,
]

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
