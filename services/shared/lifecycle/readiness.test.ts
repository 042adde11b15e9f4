import { expect, it } from 'vitest'
import { Registry } from 'prom-client'
import { exportReadiness, openReadiness, reportProblem } from './readiness.ts'

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

it('exports which conditions are unmet or have a problem', async () => {
  const readiness = openReadiness()
  const registry = new Registry()
  let problem: string | undefined = 'the server does not respond'
  readiness.require('bus', () => false)
  readiness.require('definitions', () => true)
  reportProblem(readiness, 'store', () => problem)
  exportReadiness(readiness, registry)
  const values = async () =>
    [...(await registry.metrics()).matchAll(/condition="(\w+)"\} (\d)/g)].map(([, name, value]) => `${name} ${value}`)
  expect(await values()).toEqual(['bus 1', 'definitions 0', 'store 1'])
  problem = undefined
  expect(await values()).toEqual(['bus 1', 'definitions 0', 'store 0'])
  expect(readiness.unmet()).toEqual(['bus'])
})
