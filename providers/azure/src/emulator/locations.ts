/** The regions that the emulator knows, by the name that requests use. */
const regions: Readonly<Record<string, string>> = {
  centralus: 'Central US',
  eastasia: 'East Asia',
  southeastasia: 'Southeast Asia',
  eastus: 'East US',
  eastus2: 'East US 2',
  westus: 'West US',
  westus2: 'West US 2',
  northcentralus: 'North Central US',
  southcentralus: 'South Central US',
  westcentralus: 'West Central US',
  northeurope: 'North Europe',
  westeurope: 'West Europe',
  japaneast: 'Japan East',
  japanwest: 'Japan West',
  brazilsouth: 'Brazil South',
  australiasoutheast: 'Australia Southeast',
  australiaeast: 'Australia East',
  westindia: 'West India',
  southindia: 'South India',
  centralindia: 'Central India',
  canadacentral: 'Canada Central',
  canadaeast: 'Canada East',
  uksouth: 'UK South',
  ukwest: 'UK West',
  koreacentral: 'Korea Central',
  koreasouth: 'Korea South',
  francecentral: 'France Central',
  southafricanorth: 'South Africa North',
  uaenorth: 'UAE North',
  australiacentral: 'Australia Central',
  switzerlandnorth: 'Switzerland North',
  germanywestcentral: 'Germany West Central',
  norwayeast: 'Norway East',
  jioindiawest: 'Jio India West',
  westus3: 'West US 3',
  australiacentral2: 'Australia Central 2',
  swedencentral: 'Sweden Central',
  polandcentral: 'Poland Central',
  italynorth: 'Italy North',
  israelcentral: 'Israel Central',
  qatarcentral: 'Qatar Central',
  spaincentral: 'Spain Central',
  mexicocentral: 'Mexico Central',
  newzealandnorth: 'New Zealand North',
}

/** Where Azure SQL keeps the second copy of a backup. */
const pairs: Readonly<Record<string, string>> = {
  australiaeast: 'australiasoutheast',
  westus2: 'westcentralus',
  westus3: 'eastus',
  westus: 'eastus',
  eastus: 'westus',
  eastus2: 'centralus',
  centralus: 'eastus2',
  northeurope: 'westeurope',
  westeurope: 'northeurope',
  uksouth: 'ukwest',
  ukwest: 'uksouth',
}

/** `West US 2` and `westus2` are the same region. */
export const shortLocation = (location: string): string => location.replaceAll(' ', '').toLowerCase()

export const displayLocation = (location: string): string => regions[shortLocation(location)] ?? location

export const isLocation = (location: string): boolean => Object.hasOwn(regions, shortLocation(location))

export const pairedLocation = (location: string): string => pairs[shortLocation(location)] ?? shortLocation(location)

export const locationNames: readonly string[] = Object.keys(regions)
