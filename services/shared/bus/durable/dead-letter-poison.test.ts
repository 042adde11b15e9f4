import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { deadLetterPoisonMessages } from './dead-letter-poison.ts'

const handed = (deliveries: number, error?: Error) =>
  deadLetterPoisonMessages<unknown>(async () => {
    if (error) throw error
    return 'done'
  })({ subject: 's', id: 'i', body: {}, deliveries })

describe('a message', () => {
  it('is handled after any number of deliveries', async () => {
    expect(await handed(1_000)).toBe('done')
  })

  it('that always fails is dead-lettered at the twentieth delivery, without the error message', async () => {
    const defect = new Error('no column password')
    await expect(handed(19, defect)).rejects.toBe(defect)
    expect(await handed(20, defect)).toEqual({ dead: 'the handler failed on delivery 20' })
  })

  it.each(['unavailable', 'busy', 'timeout'] as const)('keeps retrying while a dependency is %s', async (code) => {
    const away = new ServiceError(code, 'the state database does not answer')
    await expect(handed(1_000, away)).rejects.toBe(away)
  })
})
