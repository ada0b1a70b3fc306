package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
)

// dashboardFunction shows people all pages.
const dashboardFunction = "dashboard"

// dashboardPaths are the paths below which the dashboard's pages are, as API
// Gateway has them: of a folder, itself and all below it. What else is there,
// dashboard.Owns says, too.
var dashboardPaths = []string{"/sign-in", "/sign-in/{proxy+}", "/sign-out", "/me", "/me/{proxy+}", "/org/{proxy+}", "/assets/{proxy+}"}

// dashboardName is what the function is called. It has a name because the API can't
// refer to it: it knows the API's address, by which the provider sends people back.
// The name is as Fn::Sub reads it, and never longer than Lambda takes.
func (s *stack) dashboardName() string {
	const suffix, longest = "-" + dashboardFunction, 64
	if most := longest - len(suffix); len(s.settings.stack) > most {
		return s.settings.stack[:most] + suffix
	}
	return "${AWS::StackName}" + suffix
}

// dashboardAddress is where people reach the dashboard.
func (s *stack) dashboardAddress() *string {
	switch {
	case s.domain != "":
		return jsii.String("https://" + s.domain)
	case s.stage == stageLocal:
		around := awscdk.Fn_Split(jsii.String("{ApiId}"), s.parameters.localURL.ValueAsString(), nil)
		return awscdk.Fn_Join(jsii.String(""), &[]*string{
			awscdk.Fn_Select(jsii.Number(0), around), s.gateway.api.RestApiId(), awscdk.Fn_Select(jsii.Number(1), around),
		})
	}
	// As UrlForPath, which ends with a slash.
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), s.gateway.api.RestApiId(), jsii.String(".execute-api."), awscdk.Aws_REGION(), jsii.String("."),
		awscdk.Aws_URL_SUFFIX(), jsii.String("/"), s.gateway.api.DeploymentStage().StageName(),
	})
}

// dashboardOrigins returns the origin of the dashboard's pages for the CORS rule of the bucket
// that they upload to. The bucket can't refer to the API, which refers to functions, which
// refer to the bucket: so without a domain it is a pattern. The rule gives no right:
// only a signed link writes.
func (s *stack) dashboardOrigins() *string {
	switch {
	case s.domain != "":
		return jsii.String("https://" + s.domain)
	case s.stage == stageLocal:
		return jsii.String("*")
	}
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://*.execute-api."), awscdk.Aws_REGION(), jsii.String("."), awscdk.Aws_URL_SUFFIX(),
	})
}

// uploadHeaders are those that a link for an upload demands.
var uploadHeaders = []string{"x-amz-checksum-sha256", "if-none-match"}

// people is where people sign in.
type people struct {
	pool   awscognito.CfnUserPool
	secret awssecretsmanager.CfnSecret
}

// newPeople makes what signs people in: a user pool, unless a parameter names
// another OpenID provider, and the secret with what the provider knows the dashboard
// by; and it tells the function about them.
func (s *stack) newPeople() {
	p := s.parameters
	own := awscdk.NewCfnCondition(s.Stack, jsii.String("OwnUserPool"), &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionEquals(p.oidcIssuer.ValueAsString(), jsii.String("")),
	})
	either := func(pools, others *string) *string {
		return awscdk.Token_AsString(awscdk.Fn_ConditionIf(own.LogicalId(), pools, others), nil)
	}
	pool := s.newUserPool(own)
	// What its tokens name as their issuer.
	issuer := awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://cognito-idp."), awscdk.Aws_REGION(), jsii.String(".amazonaws.com/"), pool.Ref(),
	})
	address := awscdk.Fn_Join(jsii.String(""), &[]*string{s.dashboardAddress(), jsii.String("/sign-in/callback")})
	client := awscognito.NewCfnUserPoolClient(s.Stack, jsii.String("UserPoolClient"), &awscognito.CfnUserPoolClientProps{
		UserPoolId: pool.Ref(), ClientName: jsii.String("dashboard"), GenerateSecret: jsii.Bool(true),
		AllowedOAuthFlowsUserPoolClient: jsii.Bool(true), AllowedOAuthFlows: jsii.Strings("code"), AllowedOAuthScopes: jsii.Strings("openid", "email", "profile"),
		CallbackUrLs: &[]*string{address}, SupportedIdentityProviders: jsii.Strings("COGNITO"),
		ExplicitAuthFlows:          jsii.Strings("ALLOW_USER_SRP_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"),
		PreventUserExistenceErrors: jsii.String("ENABLED"), EnableTokenRevocation: jsii.Bool(true),
		// Who somebody is, is read once: tokens need no life after that.
		IdTokenValidity: jsii.Number(5), AccessTokenValidity: jsii.Number(5), RefreshTokenValidity: jsii.Number(60),
		TokenValidityUnits: &awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			IdToken: jsii.String("minutes"), AccessToken: jsii.String("minutes"), RefreshToken: jsii.String("minutes"),
		},
	})
	client.CfnOptions().SetCondition(own)
	if s.stage != stageLocal { // which has no such pages
		style := awscognito.NewCfnManagedLoginBranding(s.Stack, jsii.String("SignInPages"), &awscognito.CfnManagedLoginBrandingProps{
			UserPoolId: pool.Ref(), ClientId: client.Ref(), UseCognitoProvidedValues: jsii.Bool(true),
		})
		style.CfnOptions().SetCondition(own)
	}
	secret := s.secret("OidcClientSecret", "What the identity provider knows the dashboard of "+s.settings.stack+" by")
	secret.SetSecretString(either(client.AttrClientSecret(), jsii.String(config.EmptySecret)))
	s.people = people{pool, secret}

	f := s.functions[dashboardFunction]
	for _, v := range []struct {
		name  string
		value *string
	}{
		{config.DashboardURL, s.dashboardAddress()},
		{config.OIDCIssuer, either(issuer, p.oidcIssuer.ValueAsString())},
		{config.OIDCClientID, either(client.Ref(), p.oidcClientID.ValueAsString())},
		{config.OIDCSecret, secret.AttrId()},
		{config.OIDCGroupsClaim, either(jsii.String("cognito:groups"), p.oidcGroupsClaim.ValueAsString())},
		{config.OIDCGroups, p.oidcGroups.ValueAsString()},
	} {
		f.fn.AddEnvironment(&v.name, v.value, nil)
	}
	// Roles that sign links name the function's role, other functions name those, and
	// the API, whose address the client has, names other functions: in the role's own
	// policy, this would close the circle.
	awsiam.NewPolicy(s.Stack, jsii.String(dashboardFunction+"-secret"), &awsiam.PolicyProps{
		Roles: &[]awsiam.IRole{f.role}, Statements: &[]awsiam.PolicyStatement{allow(secret.AttrId(), "secretsmanager:GetSecretValue")},
	})
	for _, out := range []struct {
		name, about string
		value       *string
		condition   awscdk.CfnCondition
	}{
		{"DashboardUrl", "Where people reach the dashboard", s.dashboardAddress(), nil},
		{"OidcRedirectUrl", "Where an identity provider of your own sends people back to", address, nil},
		{"OidcSecretArn", "Secret for what the identity provider knows the dashboard by", secret.AttrId(), nil},
		{"UserPoolId", "User pool of the people of the dashboard", pool.Ref(), own},
	} {
		awscdk.NewCfnOutput(s.Stack, jsii.String("Out"+out.name), &awscdk.CfnOutputProps{
			Value: out.value, Description: jsii.String(out.about), Condition: out.condition,
		}).OverrideLogicalId(jsii.String(out.name))
	}
}

// newUserPool makes the pool in which people are whom operators put there, with the
// pages on which they sign in.
func (s *stack) newUserPool(own awscdk.CfnCondition) awscognito.CfnUserPool {
	guarded := "INACTIVE"
	if s.protect {
		guarded = "ACTIVE"
	}
	pool := awscognito.NewCfnUserPool(s.Stack, jsii.String("UserPool"), &awscognito.CfnUserPoolProps{
		UserPoolName: jsii.String(s.settings.stack),
		UserPoolTier: jsii.String("ESSENTIALS"), // the least with managed pages
		// The address is the name, whatever its letters' case.
		UsernameAttributes: jsii.Strings("email"), AutoVerifiedAttributes: jsii.Strings("email"),
		UsernameConfiguration:  &awscognito.CfnUserPool_UsernameConfigurationProperty{CaseSensitive: jsii.Bool(false)},
		AdminCreateUserConfig:  &awscognito.CfnUserPool_AdminCreateUserConfigProperty{AllowAdminCreateUserOnly: jsii.Bool(true)},
		MfaConfiguration:       jsii.String("OPTIONAL"),
		EnabledMfas:            jsii.Strings("SOFTWARE_TOKEN_MFA"),
		DeletionProtection:     &guarded,
		AccountRecoverySetting: map[string]any{"recoveryMechanisms": []any{map[string]any{"name": "verified_email", "priority": 1}}},
		Policies: map[string]any{"passwordPolicy": map[string]any{
			"minimumLength": 12, "requireLowercase": true, "requireUppercase": true, "requireNumbers": true, "requireSymbols": true,
			"temporaryPasswordValidityDays": 7,
		}},
	})
	pool.ApplyRemovalPolicy(s.removal(), nil)
	pool.CfnOptions().SetCondition(own)
	// The stack's own id is in no other address.
	id := awscdk.Fn_Select(jsii.Number(2), awscdk.Fn_Split(jsii.String("/"), s.StackId(), nil))
	domain := awscognito.NewCfnUserPoolDomain(s.Stack, jsii.String("UserPoolDomain"), &awscognito.CfnUserPoolDomainProps{
		UserPoolId: pool.Ref(), Domain: awscdk.Fn_Join(jsii.String("-"), &[]*string{jsii.String("bindery"), id}), ManagedLoginVersion: jsii.Number(2),
	})
	domain.CfnOptions().SetCondition(own)
	return pool
}

// beforeProxy is a path without what stands for all below it.
func beforeProxy(path string) string { return strings.TrimSuffix(path, "{proxy+}") }
