import { describe, expect, it } from 'vitest'
import { offersOf } from './offers.ts'

const none = {
  keptConnections: false,
  management: false,
  subscriptions: false,
  deployments: false,
  postgresSource: false,
  replicationService: false,
  pageViews: false,
}
const deviceLogin = { enabled: false, mode: 'auto', deviceOnly: true, store: 'store' } as const

describe('what an installation is set up for', () => {
  it('names for each thing what it would take', () => {
    const offers = offersOf({ offers: none, takesKeys: false, deviceLogin: { ...deviceLogin, reason: 'disabled' } })
    expect(offers.filter(({ isOn }) => isOn)).toEqual([])
    for (const { wanted } of offers) expect(wanted).toMatch(/^[A-Z]+_/)
  })

  it('says which of two things device login lacks', () => {
    const wantedFor = (reason: 'disabled' | 'missing_api_key_secret') =>
      offersOf({ offers: none, takesKeys: true, deviceLogin: { ...deviceLogin, reason } })[1]?.wanted
    expect(wantedFor('disabled')).toBe('SVC_DEVICE_LOGIN')
    expect(wantedFor('missing_api_key_secret')).toBe('SVC_API_KEY_SECRET')
  })
})
