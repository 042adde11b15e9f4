import { describe, expect, it } from 'vitest'
import { areAddressesAllowed, classifyAddress } from './address.ts'

describe('the class of an address', () => {
  it.each([
    ['93.184.215.14', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['10.255.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['100.64.0.1', 'private'],
    ['169.254.1.1', 'private'],
    ['::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['fe80::1', 'private'],
    ['::ffff:192.168.0.1', 'private'],
    ['0.0.0.0', 'never'],
    ['::', 'never'],
    ['169.254.169.254', 'never'],
    ['::ffff:a9fe:a9fe', 'never'],
    ['100.100.100.200', 'never'],
    ['168.63.129.16', 'never'],
    ['fd00:0ec2:0000::0254', 'never'],
    ['::7f00:1', 'never'],
    ['::127.0.0.1', 'never'],
    ['::8.8.8.8', 'never'],
    ['0:0:0:0:0:0:10.0.0.1', 'never'],
    ['::ffff:0:10.0.0.1', 'never'],
    ['64:ff9b::10.0.0.1', 'never'],
    ['fd00:c1::a9fe:a9fe', 'never'],
    ['::ffff:169.254.169.254', 'never'],
    ['64:ff9b::7f00:1', 'never'],
    ['64:ff9b:1::1', 'never'],
    ['2002:7f00:1::', 'never'],
    ['2001:db8::1', 'never'],
    ['fec0::1', 'never'],
    ['100::1', 'never'],
    ['4000::1', 'never'],
    ['224.0.0.1', 'never'],
    ['fe80::1%eth0', 'never'],
    ['', 'never'],
    ['localhost', 'never'],
  ])('%s: %s', (address, reach) => {
    expect(classifyAddress(address)).toBe(reach)
  })

  it.each([
    [['8.8.8.8', '1.1.1.1'], true, true],
    [['10.0.0.1', '::1'], false, true],
    [['8.8.8.8', '10.0.0.1'], false, false],
    [['10.0.0.1', '169.254.169.254'], false, false],
    [[], false, false],
  ])('the addresses %j are allowed by default: %s, with private hosts allowed: %s', (answers, strict, allowed) => {
    expect([areAddressesAllowed(answers, false), areAddressesAllowed(answers, true)]).toEqual([strict, allowed])
  })
})
