import { describe, expect, it } from 'vitest'
import { listOptionalCapabilities } from './optional-capabilities.ts'

const none = {
  storedConnections: false,
  management: false,
  subscriptions: false,
  deployments: false,
  postgresSource: false,
  replicationService: false,
  pageViews: false,
}
const deviceLogin = { enabled: false, mode: 'auto', deviceOnly: true, store: 'store' } as const

describe('installation capabilities', () => {
  it('name the settings that enable each', () => {
    const offers = listOptionalCapabilities({
      offers: none,
      takesKeys: false,
      deviceLogin: { ...deviceLogin, reason: 'disabled' },
    })
    expect(offers.filter(({ isOn }) => isOn)).toEqual([])
    for (const { requires } of offers) expect(requires).toMatch(/^[A-Z]+_/)
  })

  it('name the missing setting of device login', () => {
    const wantedFor = (reason: 'disabled' | 'missing_api_key_secret') =>
      listOptionalCapabilities({ offers: none, takesKeys: true, deviceLogin: { ...deviceLogin, reason } })[1]?.requires
    expect(wantedFor('disabled')).toBe('SVC_DEVICE_LOGIN')
    expect(wantedFor('missing_api_key_secret')).toBe('SVC_API_KEY_SECRET')
  })
})
