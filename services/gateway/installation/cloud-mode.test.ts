import { describe, expect, it } from 'vitest'
import type { BuildInfo } from '#proto/http/build.ts'
import { resolveCloudMode } from './edition.ts'

const builtWith = (value: string | null): BuildInfo => ({
  version: '1.0.0',
  gitSha: null,
  gitRef: null,
  builtAt: null,
  client: { CLIENT_CLOUD_MODE: value },
})

describe('cloud mode', () => {
  it.each([
    [undefined, {}, false, false, false],
    ['true', { SVC_CLOUD_MODE: 'cloud' }, true, true, false],
    ['cloud', { SVC_DEPLOYMENT_MODE: 'Cloud' }, true, true, false],
    [null, { SVC_CLOUD_MODE: 'yes' }, false, true, true],
    ['false', { SVC_DEPLOYMENT_MODE: 'cloud' }, false, true, true],
    ['true', {}, true, false, false],
    ['maybe', { SVC_CLOUD_MODE: 'maybe' }, false, false, false],
  ])('built with %s and run with %j', (built, env, build, runtime, warns) => {
    const facts = built === undefined ? undefined : builtWith(built)
    const mode = resolveCloudMode(facts, env)
    expect(mode).toMatchObject({ build, runtime })
    expect(mode.warning !== null).toBe(warns)
  })
})
