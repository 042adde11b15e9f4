import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, problemsOf, read, type SettingProblem } from '#shared/config/setting.ts'
import { unsharedFiles } from '#shared/store/edge-binding.ts'
import { chooseStore } from './choose.ts'
import { conversationSettings } from './config.ts'
import { databaseAt } from './database-id.ts'

/** What is wrong with the settings of conversations taken together. */
export const conversationProblems = (env: Environment): readonly SettingProblem[] => {
  // Each setting that is wrong alone is told elsewhere.
  if (problemsOf(conversationSettings, env).length > 0) return []
  return [...unsharedFiles(['CONVERSATIONS_EDGESQL'], env), ...idProblems(env), ...choiceProblems(env)]
}

const idProblems = (env: Environment): SettingProblem[] => {
  const {
    CONVERSATIONS_EDGESQL: binding,
    CONVERSATIONS_EDGESQL_DATABASE_ID: id,
    AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: alias,
  } = read(conversationSettings, env)
  const name = id === undefined ? 'AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID' : 'CONVERSATIONS_EDGESQL_DATABASE_ID'
  const database = id ?? alias
  if (database !== (alias ?? database)) {
    return [{ name, sentence: 'must be the same as AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID, which is its other name' }]
  }
  if (database === undefined || binding === undefined || databaseAt(binding, database) !== undefined) return []
  return [{ name, sentence: 'cannot stand before an IP address: CONVERSATIONS_EDGESQL must name its server' }]
}

const choiceProblems = (env: Environment): readonly SettingProblem[] => {
  try {
    chooseStore(env)
    return []
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    // What is wrong with the state database is told for the process.
    return error.problems.filter(({ name }) => name === 'CONVERSATION_STORE_BACKEND')
  }
}
