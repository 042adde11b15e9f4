import {
  BeginSignInResponse,
  BeginSignInRequest,
  ConfigCheckResponse,
  ModelsResponse,
  ModelSignInResponse,
  ProbeResponse,
  ProbeRequest,
  SignInCallbackQuery,
} from '#proto/http/models.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { SkillResponse, SkillIndex, SkillsResponse } from '#proto/http/skills.ts'
import {
  defineDeleteRoute,
  defineGetRoute,
  definePostRoute,
  defineRedirectRoute,
  type Route,
  defineTextRoute,
} from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const reading = { feature: 'AGENT', access: 'read', limit: 'data', query: noQuery } as const
const writing = { ...reading, access: 'write' } as const
const signInPath = '/api/v1/agents/sign-in'
const callbackPath = `${signInPath}/callback` as const

const models = defineGetRoute({
  ...reading,
  path: '/api/v1/agents/models',
  doc: 'Lists the language models that the agent can use, the default first',
  answer: ModelsResponse,
  handle: async ({ call }, { agent }) => {
    const available = await agent.models({}, call)
    return createSuccessBody(available, { count: available.models.length })
  },
})

const configCheck = defineGetRoute({
  ...reading,
  path: '/api/v1/agents/config-check',
  doc: 'Returns which model gateways have keys, and which variables to set for the others',
  answer: ConfigCheckResponse,
  handle: async ({ call }, { agent }) => createSuccessBody(await agent.modelCheck({}, call), {}),
})

const signIn = defineGetRoute({
  ...reading,
  path: signInPath,
  doc: 'Returns whether the caller is signed in with AnyRouter, or can sign in',
  answer: ModelSignInResponse,
  handle: async ({ call }, { agent }) => createSuccessBody(await agent.modelSignIn({}, call), {}),
})

const startSignIn = definePostRoute({
  ...writing,
  path: signInPath,
  doc: 'Starts the sign-in with AnyRouter and returns the URL for the browser',
  body: BeginSignInRequest,
  answer: BeginSignInResponse,
  handle: async ({ body, call, publicUrl }, { agent }) => {
    const redirectUri = `${publicUrl()}${callbackPath}`
    return createSuccessBody(await agent.beginModelSignIn({ redirectUri, returnTo: body.return }, call), {})
  },
})

const finishSignIn = defineRedirectRoute({
  ...writing,
  path: callbackPath,
  doc: 'Callback of the sign-in with AnyRouter',
  query: SignInCallbackQuery,
  refuses: [409],
  handle: async ({ query, call, publicUrl }, { agent }) => {
    const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    )
    const callback = { state: query.state, query: new URLSearchParams(parameters).toString() }
    const { returnTo, signedIn } = await agent.endModelSignIn(callback, call)
    const page = new URL(returnTo, publicUrl())
    page.searchParams.set('model-sign-in', signedIn ? 'done' : 'refused')
    return page.href
  },
})

const removeSignIn = defineDeleteRoute({
  ...writing,
  path: signInPath,
  doc: 'Deletes the key that AnyRouter issued for the caller. At AnyRouter, the key stays valid until it expires or is revoked',
  answer: ModelSignInResponse,
  handle: async ({ call }, { agent }) => createSuccessBody(await agent.endModelSession({}, call), {}),
})

const probe = definePostRoute({
  ...writing,
  path: '/api/v1/mcp/probe',
  doc: 'Lists the tools of an MCP server of the caller, as the agent would use it',
  limit: 'agent',
  body: ProbeRequest,
  answer: ProbeResponse,
  handle: async ({ body, call }, { agent }) => createSuccessBody(await agent.probeServer(body, call), {}),
})

/** Routes of language models and of MCP servers that callers provide. */
export const agentModelRoutes: readonly Route[] = [
  models,
  configCheck,
  signIn,
  startSignIn,
  finishSignIn,
  removeSignIn,
  probe,
]

/** These routes require no feature, because the guides are part of the product and contain no data of hosts. */
const common = { feature: null, limit: 'data', query: noQuery } as const
const api = { ...common, access: 'read' } as const
/** Access for other agents, which have no API key yet. */
const open = { ...common, access: 'anonymous' } as const

const list = defineGetRoute({
  ...api,
  path: '/api/v1/agent/skills',
  doc: 'Lists the expert guides that the agent can load',
  revalidated: true,
  answer: SkillsResponse,
  handle: async ({ call }, { agent }) => {
    const { skills } = await agent.skills({}, call)
    return createSuccessBody(skills, { count: skills.length })
  },
})

const one = defineGetRoute({
  ...api,
  path: '/api/v1/agent/skills/{name}',
  doc: 'Returns one expert guide, with its text in Markdown',
  revalidated: true,
  answer: SkillResponse,
  handle: async ({ path, call }, { agent }) => createSuccessBody(await agent.skill({ name: path.name }, call), {}),
})

const index = defineGetRoute({
  ...open,
  path: '/.well-known/agent-skills/index.json',
  doc: 'Lists the skills that other agents can fetch, with their digests',
  revalidated: true,
  answer: SkillIndex,
  handle: async ({ call }, { agent }) => {
    const { skills } = await agent.skills({}, call)
    return {
      $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json' as const,
      // A URL relative to the index works behind every host name and path prefix.
      skills: skills.map((skill) => ({ ...skill, type: 'skill-md' as const, url: `${skill.name}/SKILL.md` })),
    }
  },
})

const file = defineTextRoute({
  ...open,
  path: '/.well-known/agent-skills/{name}/SKILL.md',
  doc: 'Returns one skill as a file; its bytes match the digest in the index',
  mediaType: 'text/markdown; charset=utf-8',
  handle: async ({ path, call }, { agent }) => (await agent.skill({ name: path.name }, call)).text,
})

/** Routes of the skills, for the web UI and for other agents. */
export const agentSkillRoutes: readonly Route[] = [list, one, index, file]
