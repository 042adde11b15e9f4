import { expect, it } from 'vitest'
import { openReadiness } from './readiness.ts'

it('lists the conditions that are currently unmet', () => {
  const readiness = openReadiness()
  let connected = false
  readiness.require('bus', () => connected)
  readiness.require('definitions', () => true)
  expect(readiness.unmet()).toEqual(['bus'])
  connected = true
  expect(readiness.unmet()).toEqual([])
})

it('counts a check that throws as unmet', () => {
  const readiness = openReadiness()
  readiness.require('store', () => {
    throw new Error('gone')
  })
  expect(readiness.unmet()).toEqual(['store'])
})

it('rejects two conditions with the same name, because one would hide the other', () => {
  const readiness = openReadiness()
  readiness.require('bus', () => true)
  expect(() => readiness.require('bus', () => false)).toThrow('duplicate readiness check "bus"')
})
