import { execFileSync } from 'node:child_process'
import type { BuildFacts } from '#proto/http/build.ts'
import { clientVariables, type Environment } from './client-variables.ts'

/** How long git may take to answer before the build goes on without its facts. */
const gitTimeoutMs = 5_000

/** What `build.json` says of this build. The environment wins over git, and without either a fact is null. */
export const buildFacts = (version: string, environment: Environment, git: Git = askGit): BuildFacts => {
  const gitSha = environment.CLIENT_GIT_SHA || git('rev-parse', 'HEAD')
  const gitRef = environment.CLIENT_GIT_REF || git('rev-parse', '--abbrev-ref', 'HEAD')
  // The commit's own time, so that two builds of one commit are the same bytes.
  const builtAt = environment.CLIENT_BUILD_TIMESTAMP || git('show', '--no-patch', '--format=%cI', 'HEAD')
  const fromGit = { CLIENT_GIT_SHA: gitSha, CLIENT_GIT_REF: gitRef, CLIENT_BUILD_TIMESTAMP: builtAt }
  return { version, gitSha, gitRef, builtAt, client: { ...clientVariables(environment), ...fromGit } }
}

/** Asks git and gives its answer, or null where there is none. */
export type Git = (...words: string[]) => string | null

const askGit: Git = (...words) => {
  try {
    const answer = execFileSync('git', words, { timeout: gitTimeoutMs, stdio: ['ignore', 'pipe', 'ignore'] })
    return answer.toString().trim() || null
  } catch {
    return null
  }
}
