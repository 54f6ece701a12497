// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include "base/windows/rights.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

// The calling process's user, or NULL. The caller's to free().
static TOKEN_USER *user_of_process(void)
{
    HANDLE token;
    DWORD bytes = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    GetTokenInformation(token, TokenUser, NULL, 0, &bytes);
    TOKEN_USER *user = bytes ? malloc(bytes) : NULL;
    if (user && !GetTokenInformation(token, TokenUser, user, bytes, &bytes)) {
        free(user);
        user = NULL;
    }
    CloseHandle(token);
    return user;
}

// Those who can do everything anyway: administrators, the system, Windows' installer.
static bool is_system(PSID who)
{
    static const char installer[] = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";
    char *text = NULL;
    if (IsWellKnownSid(who, WinBuiltinAdministratorsSid) || IsWellKnownSid(who, WinLocalSystemSid))
        return true;
    if (!ConvertSidToStringSidA(who, &text))
        return false;
    const bool found = lstrcmpA(text, installer) == 0;
    LocalFree(text);
    return found;
}

// Rights to make something new in a folder on the way are left to others: it changes no name that is there.
static bool others_may(PACL list, PSID user, enum slri_windows_right right)
{
    const DWORD always = WRITE_DAC | WRITE_OWNER | GENERIC_ALL | FILE_DELETE_CHILD;
    const DWORD asked =
        right == SLRI_WINDOWS_CHANGE ? always | DELETE | FILE_WRITE_DATA | FILE_APPEND_DATA | GENERIC_WRITE : always;
    ACCESS_ALLOWED_ACE *entry;
    if (!list)
        return true; // no list: everybody may do everything
    for (DWORD i = 0; i < list->AceCount; ++i) {
        if (!GetAce(list, i, (void **)&entry))
            return true;
        if (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE || entry->Header.AceFlags & INHERIT_ONLY_ACE ||
            (entry->Mask & asked) == 0)
            continue;
        PSID who = (PSID)&entry->SidStart;
        if (!EqualSid(who, user) && !is_system(who) && !IsWellKnownSid(who, WinCreatorOwnerSid) &&
            !IsWellKnownSid(who, WinCreatorOwnerRightsSid))
            return true;
    }
    return false;
}

enum slri_windows_owner slri_windows_owner(const char *path, enum slri_windows_right right)
{
    PSECURITY_DESCRIPTOR about = NULL;
    PSID owner = NULL;
    PACL list = NULL;
    TOKEN_USER *user = user_of_process();
    enum slri_windows_owner found = SLRI_WINDOWS_UNKNOWN;
    const DWORD why = user ? GetNamedSecurityInfoA((char *)(uintptr_t)path, SE_FILE_OBJECT,
                                                   OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, NULL,
                                                   &list, NULL, &about)
                           : GetLastError();
    if (user && why == ERROR_SUCCESS) {
        found = !EqualSid(owner, user->User.Sid) && !is_system(owner) ? SLRI_WINDOWS_OTHERS
                : others_may(list, user->User.Sid, right)             ? SLRI_WINDOWS_WRITABLE
                                                                      : SLRI_WINDOWS_OURS;
    }
    if (about)
        LocalFree(about);
    free(user);
    SetLastError(why);
    return found;
}

bool slri_windows_make_private(const char *path)
{
    char *user_text = NULL, words[300];
    SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes};
    TOKEN_USER *user = user_of_process();
    bool made = false;
    if (user && ConvertSidToStringSidA(user->User.Sid, &user_text)) {
        // Protected: nothing is inherited. For files and folders in it, too: this user, administrators, the system.
        snprintf(words, sizeof words, "D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)", user_text);
        if (ConvertStringSecurityDescriptorToSecurityDescriptorA(words, SDDL_REVISION_1,
                                                                 &attributes.lpSecurityDescriptor, NULL))
            made = CreateDirectoryA(path, &attributes);
    }
    const DWORD why = GetLastError();
    LocalFree(attributes.lpSecurityDescriptor);
    LocalFree(user_text);
    free(user);
    SetLastError(why);
    return made;
}
