import { expect, it } from 'vitest'
import { writeSavedView } from './saved-view.ts'

it('keeps filters, sort order, columns and parameters, but neither host nor time range', () => {
  const parameters = new URLSearchParams(
    'host=3&range=7d&filter=user.eq.ada&filter=kind.eq.Select&sort=elapsed.desc&columns=a%2Cb&p.own=1&offset=250',
  )
  expect(writeSavedView(parameters)).toBe(
    'filter=user.eq.ada&filter=kind.eq.Select&sort=elapsed.desc&columns=a%2Cb&p.own=1',
  )
})
