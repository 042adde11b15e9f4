import { execFileSync } from 'node:child_process'
import type { BuildInfo } from '#proto/http/build.ts'
import { resolveClientVariables, type Environment } from './client-variables.ts'

/** Timeout of a git command. After it, the build continues without facts from git. */
const gitTimeoutMs = 5_000

/** Returns the content of `build.json`. The environment takes precedence over git; unknown facts are null. */
export const createBuildInfo = (version: string, environment: Environment, git: GitRunner = runGit): BuildInfo => {
  const gitSha = environment.CLIENT_GIT_SHA || git('rev-parse', 'HEAD')
  const gitRef = environment.CLIENT_GIT_REF || git('rev-parse', '--abbrev-ref', 'HEAD')
  // Uses the commit time by default, so that builds of one commit are identical.
  const builtAt = environment.CLIENT_BUILD_TIMESTAMP || git('show', '--no-patch', '--format=%cI', 'HEAD')
  const fromGit = { CLIENT_GIT_SHA: gitSha, CLIENT_GIT_REF: gitRef, CLIENT_BUILD_TIMESTAMP: builtAt }
  return { version, gitSha, gitRef, builtAt, client: { ...resolveClientVariables(environment), ...fromGit } }
}

/** A function that runs a git command and returns its trimmed output; null on failure or empty output. */
export type GitRunner = (...words: string[]) => string | null

const runGit: GitRunner = (...words) => {
  try {
    const output = execFileSync('git', words, { timeout: gitTimeoutMs, stdio: ['ignore', 'pipe', 'ignore'] })
    return output.toString().trim() || null
  } catch {
    return null
  }
}
