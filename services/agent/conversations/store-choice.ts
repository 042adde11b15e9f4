import { conversationBackends, type ConversationBackend } from '#proto/conversations.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  flagSetting,
  choiceSetting,
  optionalTextSetting,
  type Setting,
  wholeNumberSetting,
  InvalidSettings,
  parseSettings,
  findSettingProblems,
  type SettingProblem,
} from '#shared/config/setting.ts'
import { convstoreSettings } from '#shared/convstore/config.ts'
import { edgeBindingSettings, toEdgeDatabase, findUnsharedFileProblems } from '#shared/store/edge-binding.ts'
import { findPostgresDatabase, type StateDatabase } from '#shared/store/sql/state-database.ts'

const databaseIdSetting = (doc: string): Setting<string | undefined> => ({
  ...optionalTextSetting(doc),
  allowed: 'at most 63 letters, digits and dashes',
  parse: (text) => {
    if (text === undefined || /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(text)) return text
    throw new Error('must be at most 63 letters, digits and dashes, with no dash at either end')
  },
})

/** Settings for the store and the retention of conversations. */
export const conversationSettings = {
  CONVERSATION_STORE_BACKEND: choiceSetting(
    ['auto', ...conversationBackends],
    'auto',
    'Conversation store. auto selects the first of convstore, edgesql, postgres and memory that is configured; a store that is named must be configured.',
  ),
  ...convstoreSettings,
  CONVSTORE_AI_ENRICH: flagSetting(
    false,
    'Whether AgentState generates titles and follow-up questions for conversations.',
  ),
  ...edgeBindingSettings,
  CONVERSATIONS_EDGESQL_DATABASE_ID: databaseIdSetting(
    'Database within CONVERSATIONS_EDGESQL that stores conversations: for a server, the name before its host; for a file: URL, a file of that name in the same folder. Unset: the binding itself.',
  ),
  AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: databaseIdSetting('Alias of CONVERSATIONS_EDGESQL_DATABASE_ID.'),
  SVC_CONVERSATIONS_DAYS: wholeNumberSetting(180, 'Retention of conversations in days after their last change.', {
    min: 1,
    max: 3_650,
  }),
} as const

/** The selected store with its database, if it needs one. */
export type ConversationStoreChoice =
  | { backend: 'convstore' | 'memory' }
  | { backend: 'edgesql' | 'postgres'; where: StateDatabase }

/** Returns the configured store. Throws `InvalidSettings` if the named store lacks its prerequisite. */
export const chooseConversationStore = (env: Environment): ConversationStoreChoice => {
  const { CONVERSATION_STORE_BACKEND: named } = parseSettings(conversationSettings, env)
  if (named !== 'auto') {
    const choice = storeBackends[named].find(env)
    if (choice) return choice
    throw new InvalidSettings([
      { name: 'CONVERSATION_STORE_BACKEND', sentence: `${named} needs ${storeBackends[named].needs}` },
    ])
  }
  for (const backend of conversationBackends) {
    const choice = storeBackends[backend].find(env)
    if (choice) return choice
  }
  return { backend: 'memory' }
}

const storeBackends: Record<
  ConversationBackend,
  { needs: string; find(env: Environment): ConversationStoreChoice | undefined }
> = {
  convstore: {
    needs: 'CONVSTORE_API_KEY, the project key of the conversation service',
    find: (env) =>
      parseSettings(conversationSettings, env).CONVSTORE_API_KEY === undefined ? undefined : { backend: 'convstore' },
  },
  edgesql: {
    needs:
      'CONVERSATIONS_EDGESQL, the libsql: or file: URL of a SQLite database; a database id alone is not sufficient',
    find: (env) => {
      const where = resolveEdgeUrl(env)
      return where === undefined ? undefined : { backend: 'edgesql', where: toEdgeDatabase(where) }
    },
  },
  postgres: {
    needs: 'a PostgreSQL database, such as DATABASE_URL',
    find: (env) => {
      const where = findPostgresDatabase(env)
      return where && { backend: 'postgres', where }
    },
  },
  memory: { needs: 'nothing', find: () => ({ backend: 'memory' }) },
}

const resolveEdgeUrl = (env: Environment): string | undefined => {
  const {
    CONVERSATIONS_EDGESQL: binding,
    CONVERSATIONS_EDGESQL_DATABASE_ID: id,
    AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: alias,
  } = parseSettings(conversationSettings, env)
  const database = id ?? alias
  return binding === undefined || database === undefined ? binding : resolveDatabaseUrl(binding, database)
}

/** Returns the problems of conversation settings that are valid on their own, but not in combination. */
export const findConversationProblems = (env: Environment): readonly SettingProblem[] => {
  // The configuration check reports settings that are invalid on their own.
  if (findSettingProblems(conversationSettings, env).length > 0) return []
  return [
    ...findUnsharedFileProblems(['CONVERSATIONS_EDGESQL'], env),
    ...findDatabaseIdProblems(env),
    ...findStoreProblems(env),
  ]
}

const findDatabaseIdProblems = (env: Environment): SettingProblem[] => {
  const {
    CONVERSATIONS_EDGESQL: binding,
    CONVERSATIONS_EDGESQL_DATABASE_ID: id,
    AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: alias,
  } = parseSettings(conversationSettings, env)
  const name = id === undefined ? 'AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID' : 'CONVERSATIONS_EDGESQL_DATABASE_ID'
  const database = id ?? alias
  if (database !== (alias ?? database)) {
    return [{ name, sentence: 'must equal its alias AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID; set only one of them' }]
  }
  if (database === undefined || binding === undefined || resolveDatabaseUrl(binding, database) !== undefined) return []
  return [{ name, sentence: 'requires a host name in CONVERSATIONS_EDGESQL instead of an IP address' }]
}

const findStoreProblems = (env: Environment): readonly SettingProblem[] => {
  try {
    chooseConversationStore(env)
    return []
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    // Problems of the state database are reported once per process.
    return error.problems.filter(({ name }) => name === 'CONVERSATION_STORE_BACKEND')
  }
}

/**
 * Returns the URL of the database with this id. libSQL servers select a database by the first label of the host name,
 * so the id is prepended to it. For a file, the result is `<id>.db` in the same folder. Returns undefined if the server
 * has an IP address.
 */
export const resolveDatabaseUrl = (binding: string, id: string): string | undefined => {
  if (binding.startsWith('file:')) return resolveSiblingFile(binding, id)
  const server = new URL(binding)
  const name = `${id}.${server.hostname}`.toLowerCase()
  // An IP address cannot have subdomains.
  if (/^[\d.]+$|^\[/.test(server.hostname)) return undefined
  server.hostname = name
  return server.href
}

const resolveSiblingFile = (binding: string, id: string): string => {
  const [path = '', ...query] = binding.split('?')
  const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.indexOf(':')) + 1)
  return [`${folder}${id}.db`, ...query].join('?')
}
