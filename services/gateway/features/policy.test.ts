import { describe, expect, it } from 'vitest'
import { features } from '#proto/call.ts'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { featureSettings } from './config.ts'
import { type FilePermissions, resolvePermissions } from './policy.ts'

const resolved = (env: Record<string, string>, file: FilePermissions = {}) =>
  resolvePermissions(parseSettings(featureSettings, env), file).AGENT

const open = { enabled: true, access: 'public', offBy: null }
const offBy = (setting: string) => ({ enabled: false, access: 'public', offBy: setting })
const authenticated = { enabled: true, access: 'authenticated', offBy: null }

describe('the permission of a feature', () => {
  it('defaults to public for every feature', () => {
    const permissions = resolvePermissions(parseSettings(featureSettings, {}), {})
    expect(Object.keys(permissions)).toEqual([...features])
    for (const feature of features) expect(permissions[feature]).toEqual(open)
  })

  it('exists for the 19 features of the specification', () => {
    const ids =
      'OVERVIEW AGENT INSIGHTS HEALTH QUERIES TABLES METRICS DASHBOARD SECURITY LOGS SETTINGS BILLING CLUSTER OPERATIONS ACTIONS MCP DOCS ABOUT REPLDB'
    expect([...features].toSorted()).toEqual(ids.split(' ').toSorted())
  })

  const rows: [env: Record<string, string>, file: FilePermissions, expected: object][] = [
    [{ SVC_DISABLED_FEATURES: 'MCP, agent,' }, {}, offBy('SVC_DISABLED_FEATURES')],
    [{ SVC_DISABLED_FEATURES: 'MCP' }, {}, open],
    [{ SVC_AUTH_REQUIRED_FEATURES: ' AGENT ' }, {}, authenticated],
    [{ SVC_FEATURE_AGENT_ENABLED: 'false' }, {}, offBy('SVC_FEATURE_AGENT_ENABLED')],
    [{ SVC_FEATURE_AGENT_ENABLED: 'Off' }, {}, offBy('SVC_FEATURE_AGENT_ENABLED')],
    [{ SVC_FEATURE_AGENT_ENABLED: 'maybe' }, {}, open],
    [{ SVC_FEATURE_AGENT_ACCESS: 'authenticated' }, {}, authenticated],
    [{ SVC_FEATURE_AGENT_ACCESS: 'Guest' }, {}, open],
    [{ SVC_FEATURE_AGENT_ACCESS: '' }, { AGENT: { access: 'authenticated' } }, authenticated],
    [{}, { AGENT: { enabled: false } }, offBy('SVC_CONFIG_FILE')],
    [{}, { AGENT: { access: 'authenticated' } }, authenticated],
    [{}, { MCP: { enabled: false } }, open],
    [{ SVC_FEATURE_AGENT_ENABLED: 'true' }, { AGENT: { enabled: false } }, open],
    [{ SVC_FEATURE_AGENT_ACCESS: 'public' }, { AGENT: { access: 'authenticated' } }, open],
    [{ SVC_FEATURE_AGENT_ENABLED: 'maybe' }, { AGENT: { enabled: false } }, offBy('SVC_CONFIG_FILE')],
    [{ SVC_DISABLED_FEATURES: 'AGENT' }, { AGENT: { enabled: true } }, offBy('SVC_DISABLED_FEATURES')],
    [{ SVC_DISABLED_FEATURES: 'AGENT', SVC_FEATURE_AGENT_ENABLED: 'true' }, {}, offBy('SVC_DISABLED_FEATURES')],
    [{ SVC_AUTH_REQUIRED_FEATURES: 'AGENT', SVC_FEATURE_AGENT_ACCESS: 'public' }, {}, authenticated],
    [
      { SVC_DISABLED_FEATURES: 'AGENT', SVC_AUTH_REQUIRED_FEATURES: 'AGENT' },
      {},
      { enabled: false, access: 'authenticated', offBy: 'SVC_DISABLED_FEATURES' },
    ],
  ]
  it.each(rows)('with %j and in the file %j', (env, file, expected) => {
    expect(resolved(env, file)).toEqual(expected)
  })

  it.each(features)('%s follows only its own variables', (feature) => {
    const changed = (env: Record<string, string>) =>
      Object.entries(resolvePermissions(parseSettings(featureSettings, env), {})).filter(
        ([, { enabled, access }]) => !enabled || access !== 'public',
      )
    const enabled = `SVC_FEATURE_${feature}_ENABLED`
    expect(changed({ [enabled]: 'false' })).toEqual([[feature, offBy(enabled)]])
    expect(changed({ [`SVC_FEATURE_${feature}_ACCESS`]: 'authenticated' })).toEqual([[feature, authenticated]])
  })

  it.each([
    [{ SVC_DISABLED_FEATURES: 'AGENT,AGENTS' }, 'has an unknown feature "AGENTS"; allowed: OVERVIEW'],
    [{ SVC_AUTH_REQUIRED_FEATURES: 'toString' }, 'has an unknown feature "toString"'],
    [{ SVC_FEATURE_AGENT_ACCESS: 'authenicated' }, 'must be public, guest or authenticated'],
    [{ SVC_FEATURE_AGENT_ACCESS: 'constructor' }, 'must be public, guest or authenticated'],
  ])('rejects misspelt values, which would leave a feature open: %j', (env, sentence) => {
    const [name] = Object.keys(env)
    expect(findSettingProblems(featureSettings, env)).toEqual([{ name, sentence: expect.stringContaining(sentence) }])
  })
})
